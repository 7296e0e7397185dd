//! As whom a container is asked, where that is no key.

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

/// An identity that tokens are had of.
type Identity = Arc<dyn TokenCredential>;

/// How long each of several identities may take, but for the last one: where there is none, nobody
/// answers.
const PATIENCE: Duration = Duration::from_secs(3);

/// The identity that options name.
pub(super) fn identity(credential: &Credential) -> Result<Identity> {
    let made: azure_core::Result<Identity> = match credential {
        Credential::ManagedIdentity { client_id } => managed(client_id.clone()),
        Credential::ServicePrincipal { tenant, client, secret } => {
            let secret = azure_core::credentials::Secret::new(secret.expose().to_owned());
            ClientSecretCredential::new(tenant, client.clone(), secret, None).map(|made| made as _)
        }
        _ => usual(),
    };
    // What it says may repeat what it was given.
    made.map_err(|_why| CosmosFault::NoIdentity.into())
}

fn managed(client_id: Option<String>) -> azure_core::Result<Identity> {
    let user_assigned_id = client_id.map(UserAssignedId::ClientId);
    let options = ManagedIdentityCredentialOptions { user_assigned_id, ..Default::default() };
    ManagedIdentityCredential::new(Some(options)).map(|made| made as _)
}

/// The machine's own, be it a container's or its own, else that of whoever is logged in.
fn usual() -> azure_core::Result<Identity> {
    let container = WorkloadIdentityCredential::new(None).map(|made| made as Identity);
    let machine = managed(None);
    let person = DeveloperToolsCredential::new(None)? as Identity;
    let all = [container.ok(), machine.ok(), Some(person)].into_iter().flatten().collect();
    Ok(Arc::new(FirstOf { all, found: OnceLock::new() }))
}

/// The first of several identities that a token can be had of, which then is the one.
#[derive(Debug)]
struct FirstOf {
    all: Vec<Identity>,
    found: OnceLock<Identity>,
}

#[async_trait]
impl TokenCredential for FirstOf {
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
            if let Ok(Ok(token)) = tokio::time::timeout(PATIENCE, asked).await {
                // Somebody else may have found it at the same time.
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
    struct One {
        has_token: bool,
        is_silent: bool,
        asked: AtomicU32,
    }

    #[async_trait]
    impl TokenCredential for One {
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
            let message = "nobody is here";
            Err(azure_core::Error::with_message(azure_core::error::ErrorKind::Credential, message))
        }
    }

    #[test]
    fn the_first_identity_that_has_a_token_is_the_one() {
        let one = |has_token, is_silent| Arc::new(One { has_token, is_silent, asked: AtomicU32::new(0) });
        let all = [one(false, false), one(false, true), one(true, false), one(true, false)];
        let identity = FirstOf {
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
