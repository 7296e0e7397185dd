//! Settings of Cosmos DB.

use std::sync::Arc;

use trommel_blocks::{BlockStorage, Result};

use super::access;
use super::data::Auth;
use super::fault::SettingFault;
use super::layers::Layers;
use super::parse;
use super::table::Setting;
#[cfg(feature = "cosmos")]
use crate::cosmos::{CosmosBlockStorage, CosmosOptions, Credential};

/// The default database.
pub const DATABASE: &str = "amplifier-db";

/// The default container.
pub const CONTAINER: &str = "items";

/// A container of Cosmos DB.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CosmosSettings {
    /// The address of the account.
    pub endpoint: String,
    /// The database.
    pub database: String,
    /// The container.
    pub container: String,
    /// The credentials.
    pub auth: Auth,
}

/// The configured container.
pub(super) fn of(layers: &mut Layers<'_>) -> Result<Option<CosmosSettings>> {
    let endpoint = layers.text(Setting::ENDPOINT)?;
    if endpoint.is_none() && !layers.has(Setting::CONNECTION_STRING) {
        return Ok(None);
    }
    let auth = access::COSMOS.find(layers)?;
    let endpoint = match (endpoint, &auth) {
        (Some(endpoint), _) => endpoint,
        (None, Auth::ConnectionString(text)) => access::endpoint_in(text)?,
        (None, _) => {
            return Err(Setting::ENDPOINT.error("is missing", "set it to the address of the account"));
        }
    };
    parse::check_address(&endpoint, Setting::ENDPOINT)?;
    Ok(Some(CosmosSettings {
        endpoint,
        database: layers.text(Setting::DATABASE)?.unwrap_or_else(|| DATABASE.to_owned()),
        container: layers.text(Setting::CONTAINER)?.unwrap_or_else(|| CONTAINER.to_owned()),
        auth,
    }))
}

impl CosmosSettings {
    /// Creates the storage without connecting.
    #[cfg(feature = "cosmos")]
    pub(super) fn open(&self) -> Result<Arc<dyn BlockStorage>> {
        let credential = credential(&self.auth)?;
        let mut options = CosmosOptions::new(&self.endpoint, credential);
        options.database.clone_from(&self.database);
        options.container.clone_from(&self.container);
        Ok(Arc::new(CosmosBlockStorage::new(options)?))
    }

    #[cfg(not(feature = "cosmos"))]
    #[expect(clippy::unused_self, reason = "a build with the feature uses it")]
    pub(super) fn open(&self) -> Result<Arc<dyn BlockStorage>> {
        Err(SettingFault::NotBuilt { storage: "Cosmos DB", feature: "cosmos" }.into())
    }
}

#[cfg(feature = "cosmos")]
fn credential(auth: &Auth) -> Result<Credential> {
    Ok(match auth.clone() {
        Auth::Key(key) => Credential::Key(key),
        Auth::ConnectionString(text) => Credential::ConnectionString(text),
        Auth::ManagedIdentity { client_id } => Credential::ManagedIdentity { client_id },
        Auth::DefaultCredentials => Credential::DefaultCredentials,
        Auth::ServicePrincipal { tenant_id: tenant, client_id: client, client_secret: secret } => {
            Credential::ServicePrincipal { tenant, client, secret }
        }
        Auth::Signature(_) | Auth::AccessKey { .. } | Auth::Anonymous => {
            return Err(SettingFault::Credentials.into());
        }
    })
}
