//! The storages that settings name.

use std::sync::Arc;

use super::CloudSettings;
use crate::error::{Error, ErrorKind, Result};
use crate::local::LocalBlockStorage;
use crate::storage::{BlockStorage, PayloadStorage};

/// The storages that settings name.
#[derive(Clone)]
#[non_exhaustive]
pub struct Storages {
    /// Where blocks are kept.
    pub blocks: Arc<dyn BlockStorage>,
    /// Where what is too large for a block is kept.
    pub payloads: Option<Arc<dyn PayloadStorage>>,
}

impl CloudSettings {
    /// Makes the storages that are named, none where sessions lie on this machine alone. Nothing is asked yet.
    ///
    /// Blocks are kept in Cosmos DB where that is named, else in the object store; a folder (`file:///…`) needs no feature.
    pub fn open(&self) -> Result<Option<Storages>> {
        let payloads = self.payloads()?;
        if let Some(cosmos) = &self.cosmos {
            return Ok(Some(Storages { blocks: of_cosmos(cosmos)?, payloads }));
        }
        let Some(objects) = &self.objects else { return Ok(None) };
        if let Some(folder) = objects.folder() {
            return Ok(Some(Storages { blocks: Arc::new(LocalBlockStorage::new(folder)), payloads: None }));
        }
        Ok(Some(Storages { blocks: of_objects(objects)?, payloads }))
    }

    #[cfg(feature = "objects")]
    fn payloads(&self) -> Result<Option<Arc<dyn PayloadStorage>>> {
        use crate::objects::{ObjectPayloads, Objects};
        let Some(objects) = self.objects.as_ref().filter(|objects| objects.folder().is_none()) else {
            return Ok(None);
        };
        let place = Objects::open(&objects.url, &objects.into())?;
        Ok(Some(Arc::new(ObjectPayloads::new(place))))
    }

    #[cfg(not(feature = "objects"))]
    fn payloads(&self) -> Result<Option<Arc<dyn PayloadStorage>>> {
        match self.objects.as_ref().filter(|objects| objects.folder().is_none()) {
            Some(_) => Err(missing("object stores", "objects")),
            None => Ok(None),
        }
    }
}

#[cfg(feature = "cosmos")]
fn of_cosmos(settings: &super::CosmosSettings) -> Result<Arc<dyn BlockStorage>> {
    use crate::cosmos::{CosmosBlockStorage, CosmosOptions};
    let credential = credential(&settings.auth)?;
    let mut options = CosmosOptions::new(&settings.endpoint, credential);
    options.database.clone_from(&settings.database);
    options.container.clone_from(&settings.container);
    Ok(Arc::new(CosmosBlockStorage::new(options)?))
}

#[cfg(feature = "cosmos")]
fn credential(auth: &super::Auth) -> Result<crate::cosmos::Credential> {
    use super::Auth;
    use crate::cosmos::Credential;
    Ok(match auth.clone() {
        Auth::Key(key) => Credential::Key(key),
        Auth::ConnectionString(text) => Credential::ConnectionString(text),
        Auth::ManagedIdentity { client_id } => Credential::ManagedIdentity { client_id },
        Auth::DefaultCredentials => Credential::DefaultCredentials,
        Auth::ServicePrincipal { tenant_id: tenant, client_id: client, client_secret: secret } => {
            Credential::ServicePrincipal { tenant, client, secret }
        }
        Auth::Signature(_) | Auth::AccessKey { .. } | Auth::Anonymous => {
            let message =
                "Cosmos DB knows keys, connection strings and identities: name one as `auth_method`";
            return Err(Error::new(ErrorKind::Request, message));
        }
    })
}

#[cfg(not(feature = "cosmos"))]
fn of_cosmos(_: &super::CosmosSettings) -> Result<Arc<dyn BlockStorage>> {
    Err(missing("Cosmos DB", "cosmos"))
}

#[cfg(feature = "objects")]
fn of_objects(settings: &super::ObjectSettings) -> Result<Arc<dyn BlockStorage>> {
    use crate::objects::{ObjectBlockStorage, Objects};
    Ok(Arc::new(ObjectBlockStorage::new(Objects::open(&settings.url, &settings.into())?)))
}

#[cfg(not(feature = "objects"))]
fn of_objects(_: &super::ObjectSettings) -> Result<Arc<dyn BlockStorage>> {
    Err(missing("object stores", "objects"))
}

#[cfg(not(all(feature = "cosmos", feature = "objects")))]
fn missing(what: &str, feature: &str) -> Error {
    let message = format!(
        "the settings name a storage in {what}, which this build knows nothing of: build it with the feature `{feature}`"
    );
    Error::new(ErrorKind::Unsupported, message)
}
