//! Identities for access without a key.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use azure_core::credentials::{AccessToken, TokenCredential, TokenRequestOptions};
use azure_identity::{
    ClientSecretCredential, DeveloperToolsCredential, ManagedIdentityCredential,
    ManagedIdentityCredentialOptions, UserAssignedId, WorkloadIdentityCredential,
};
use trommel_blocks::Result;

use super::fault::CosmosFault;
use super::options::Credential;

/// A source of tokens.
type Identity = Arc<dyn TokenCredential>;

/// The timeout for each candidate but the last. A machine without an identity service often does
/// not answer at all.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(3);

/// Creates the identity that the options select.
pub(super) fn identity(credential: &Credential) -> Result<Identity> {
    let made: azure_core::Result<Identity> = match credential {
        Credential::ManagedIdentity { client_id } => managed(client_id.clone()),
        Credential::ServicePrincipal { tenant, client, secret } => {
            let secret = azure_core::credentials::Secret::new(secret.expose().to_owned());
            ClientSecretCredential::new(tenant, client.clone(), secret, None).map(|made| made as _)
        }
        _ => default_identity(),
    };
    // The error may repeat a secret.
    made.map_err(|_why| CosmosFault::NoIdentity.into())
}

fn managed(client_id: Option<String>) -> azure_core::Result<Identity> {
    let user_assigned_id = client_id.map(UserAssignedId::ClientId);
    let options = ManagedIdentityCredentialOptions { user_assigned_id, ..Default::default() };
    ManagedIdentityCredential::new(Some(options)).map(|made| made as _)
}

/// Tries the identity of the container, then of the machine, then of the user who is logged in.
fn default_identity() -> azure_core::Result<Identity> {
    let container = WorkloadIdentityCredential::new(None).map(|made| made as Identity);
    let machine = managed(None);
    let person = DeveloperToolsCredential::new(None)? as Identity;
    let all = [container.ok(), machine.ok(), Some(person)].into_iter().flatten().collect();
    Ok(Arc::new(FirstWorking { all, found: OnceLock::new() }))
}

/// The first of several identities that returns a token. Later calls use it alone.
#[derive(Debug)]
struct FirstWorking {
    all: Vec<Identity>,
    found: OnceLock<Identity>,
}

#[async_trait]
impl TokenCredential for FirstWorking {
    async fn get_token(
        &self,
        scopes: &[&str],
        options: Option<TokenRequestOptions<'_>>,
    ) -> azure_core::Result<AccessToken> {
        if let Some(found) = self.found.get() {
            return found.get_token(scopes, options).await;
        }
        let (last, others) = self.all.split_last().ok_or_else(|| {
            azure_core::Error::with_message(azure_core::error::ErrorKind::Credential, "there is no identity")
        })?;
        for identity in others {
            let asked = identity.get_token(scopes, options.clone());
            if let Ok(Ok(token)) = tokio::time::timeout(TOKEN_TIMEOUT, asked).await {
                // Another thread may have set it at the same time; both found the same one.
                let _ = self.found.set(Arc::clone(identity));
                return Ok(token);
            }
        }
        let token = last.get_token(scopes, options).await?;
        let _ = self.found.set(Arc::clone(last));
        Ok(token)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Candidate {
        has_token: bool,
        is_silent: bool,
        asked: AtomicU32,
    }

    #[async_trait]
    impl TokenCredential for Candidate {
        async fn get_token(
            &self,
            _: &[&str],
            _: Option<TokenRequestOptions<'_>>,
        ) -> azure_core::Result<AccessToken> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            if self.is_silent {
                std::future::pending::<()>().await;
            }
            if self.has_token {
                let until = azure_core::time::OffsetDateTime::now_utc() + Duration::from_mins(1);
                return Ok(AccessToken::new("token".to_owned(), until));
            }
            let message = "no identity service";
            Err(azure_core::Error::with_message(azure_core::error::ErrorKind::Credential, message))
        }
    }

    #[test]
    fn the_first_identity_with_a_token_is_used() {
        let one =
            |has_token, is_silent| Arc::new(Candidate { has_token, is_silent, asked: AtomicU32::new(0) });
        let all = [one(false, false), one(false, true), one(true, false), one(true, false)];
        let identity = FirstWorking {
            all: all.iter().map(|one| Arc::clone(one) as Identity).collect(),
            found: OnceLock::new(),
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        for _ in 0..3 {
            let token = runtime.block_on(identity.get_token(&["scope"], None)).unwrap();
            assert_eq!(token.token.secret(), "token");
        }
        let asked = all.map(|one| one.asked.load(Ordering::SeqCst));
        assert_eq!(asked, [1, 1, 3, 0]);
    }
}
