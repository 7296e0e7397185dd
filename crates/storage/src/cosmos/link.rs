//! The connection to a container: one worker thread for requests, and a client that is created when
//! it is first needed.

use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::options::{
    AvailabilityStrategy, BinaryEncodingOptions, ConnectionPoolOptions, EndToEndOperationLatencyPolicy,
    OperationOptions, ThrottlingRetryOptions,
};
use azure_data_cosmos::{
    AccountEndpoint, AccountReference, CosmosClient, CosmosRuntimeBuilder, RoutingStrategy,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;
use trommel_blocks::{AttemptError, Error, ErrorKind, Result};
use trommel_session::Watch;

use super::failure::{Failure, classify, code, timed_out};
use super::fault::{CosmosFault, OptionFault};
use super::identity::identity;
use super::options::{CheckedOptions, CosmosOptions, Layout};

/// The interval in which a waiting thread checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The extra time of an attempt beyond the SDK's own timeout, so that the SDK ends it first and
/// reports how many requests it made.
const GRACE: Duration = Duration::from_secs(1);

/// An opened container.
#[derive(Clone)]
pub(super) struct OpenContainer {
    pub(super) container: ContainerClient,
    pub(super) layout: Layout,
}

/// The options of a connection, and the client once it exists.
pub(super) struct Connection {
    pub(super) options: CosmosOptions,
    checked: CheckedOptions,
    sdk: CosmosRuntimeBuilder,
    client: OnceCell<CosmosClient>,
    open: OnceCell<OpenContainer>,
}

/// The budget of one attempt.
pub(super) struct Attempt<'t> {
    /// The number of requests made so far; the attempt adds its own.
    pub(super) tried: &'t mut usize,
    /// The remaining time.
    pub(super) left: Duration,
}

pub(super) struct Link {
    pub(super) connection: Arc<Connection>,
    runtime: Option<Runtime>,
    pub(super) name: String,
}

impl Link {
    /// Creates a link without connecting.
    pub(super) fn new(options: CosmosOptions, sdk: CosmosRuntimeBuilder) -> Result<Self> {
        let checked = CheckedOptions::new(&options)?;
        let name = format!("Cosmos container {}/{} at {}", options.database, options.container, checked.host);
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("trommel-cosmos")
            .enable_all()
            .build()
            .map_err(ErrorKind::Thread)?;
        let connection = Connection { options, checked, sdk, client: OnceCell::new(), open: OnceCell::new() };
        Ok(Self { connection: Arc::new(connection), runtime: Some(runtime), name })
    }

    /// Makes a request, with retries.
    pub(super) fn ask<T, F, Fut>(&self, watch: &Watch<'_>, ask: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(OpenContainer) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = std::result::Result<T, Failure>> + Send,
    {
        let mut tried = 0;
        self.connection.options.retry.run(watch, |left| {
            let (connection, ask) = (Arc::clone(&self.connection), ask.clone());
            self.once(watch, Attempt { tried: &mut tried, left }, async move {
                let open = connection.open().await?;
                ask(open).await
            })
        })
    }

    /// Makes one attempt on the worker thread, within the remaining time. Only the caller's thread
    /// waits, so this may be called from any thread.
    pub(super) fn once<T: Send + 'static>(
        &self,
        watch: &Watch<'_>,
        attempt: Attempt<'_>,
        asked: impl Future<Output = std::result::Result<T, Failure>> + Send + 'static,
    ) -> std::result::Result<T, AttemptError> {
        let Attempt { tried, left } = attempt;
        let stopped = || Error::from(CosmosFault::Stopped { container: self.name.clone() });
        let timeout = left.min(self.connection.options.attempt_timeout + GRACE);
        let (send, receive) = mpsc::sync_channel(1);
        let runtime = self.runtime.as_ref().ok_or_else(|| AttemptError::Permanent(stopped()))?;
        let task = runtime.spawn(async move {
            // The receiver is gone if the caller was cancelled.
            let _ = send.send(tokio::time::timeout(timeout, asked).await);
        });
        loop {
            match receive.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(answer)) => return answer.map_err(|fault| self.classify_and_count(fault, tried)),
                Ok(Err(_)) => return Err(timed_out(&self.name, timeout)),
                Err(RecvTimeoutError::Disconnected) => return Err(AttemptError::Permanent(stopped())),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = watch.check() {
                        task.abort();
                        return Err(AttemptError::Permanent(error.into()));
                    }
                }
            }
        }
    }

    /// Classifies a failure. Requests that the SDK retried itself count as attempts: when they
    /// reach the maximum, the failure is permanent.
    fn classify_and_count(&self, fault: Failure, tried: &mut usize) -> AttemptError {
        *tried += match &fault {
            Failure::Service(error) => error.diagnostics().map_or(1, |all| all.request_count()),
            Failure::Own(_) => 1,
        };
        match classify(fault, &self.name) {
            AttemptError::Transient(error, _)
                if *tried >= self.connection.options.retry.attempts as usize =>
            {
                AttemptError::Permanent(error)
            }
            failed => failed,
        }
    }

    /// Returns the layout as far as it is known without a request.
    pub(super) fn layout(&self) -> Layout {
        let found = self.connection.open.get().map(|open| open.layout);
        found.or(self.connection.options.layout).unwrap_or_else(|| guess_layout(&self.connection.options))
    }

    /// Checks whether the address accepts connections. It uses a thread of its own, because a name
    /// lookup cannot be cancelled.
    pub(super) fn reach(&self, timeout: Duration) -> Result<()> {
        let CheckedOptions { host, port, .. } = self.connection.checked.clone();
        let (send, receive) = mpsc::sync_channel(1);
        let knock = move || {
            let found = (host.as_str(), port).to_socket_addrs().into_iter().flatten();
            let reached =
                found.into_iter().any(|address| TcpStream::connect_timeout(&address, timeout).is_ok());
            let _ = send.send(reached);
        };
        let started = thread::Builder::new().name("trommel-reach".to_owned()).spawn(knock);
        if started.is_ok() && receive.recv_timeout(timeout) == Ok(true) {
            return Ok(());
        }
        Err(CosmosFault::Unreachable { container: self.name.clone(), waited: timeout }.into())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Dropping a runtime waits for its tasks, which is not allowed on every thread.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Connection {
    pub(super) async fn client(&self) -> std::result::Result<CosmosClient, Failure> {
        let made = self.client.get_or_try_init(|| async {
            let endpoint: AccountEndpoint = self
                .checked
                .endpoint
                .parse()
                .map_err(|_why| Error::from(CosmosFault::Option(OptionFault::Endpoint)))?;
            let account = match &self.checked.key {
                Some(key) => AccountReference::with_authentication_key(endpoint, key.expose().to_owned()),
                None => AccountReference::with_credential(endpoint, identity(&self.options.credential)?),
            };
            // A separate runtime: the one that all clients share lives on the worker of the first
            // client. HTTP/2 is off, because with it the SDK itself repeats each request that fails
            // in transport twice.
            let pool = ConnectionPoolOptions::builder().with_is_http2_allowed(false).build()?;
            let sdk = self.sdk.clone().with_connection_pool(pool).build().await?;
            let client = CosmosClient::builder()
                .with_runtime(sdk)
                .with_default_operation_options(self.operations())
                // Blocks are sent as text. Emulators do not support the binary encoding.
                .with_binary_encoding_options(BinaryEncodingOptions::new().with_enabled(false))
                .build(account, RoutingStrategy::PreferredRegions(Vec::new()))
                .await?;
            Ok::<_, Failure>(client)
        });
        made.await.cloned()
    }

    pub(super) async fn open(&self) -> std::result::Result<OpenContainer, Failure> {
        let made = self.open.get_or_try_init(|| async {
            let database = self.client().await?.database_client(self.options.database.clone());
            let container = database.container_client(self.options.container.clone(), None).await?;
            let layout = match self.options.layout {
                Some(layout) => layout,
                None => self.read_layout(&container).await?,
            };
            Ok::<_, Failure>(OpenContainer { container, layout })
        });
        made.await.cloned()
    }

    /// Reads the layout from the container's properties, or guesses it from its name if they may
    /// not be read.
    async fn read_layout(&self, container: &ContainerClient) -> std::result::Result<Layout, Failure> {
        let properties = match container.read(None).await {
            Ok(answer) => answer.into_model()?,
            Err(error) if code(&error) == 403 => return Ok(guess_layout(&self.options)),
            Err(error) => return Err(error.into()),
        };
        match properties.partition_key.paths().first().map(AsRef::as_ref) {
            Some("/partitionKey") => Ok(Layout::Blocks),
            Some("/partition_key") => Ok(Layout::Lines),
            _ => {
                let container = self.options.container.clone();
                Err(Error::from(CosmosFault::Layout { container }).into())
            }
        }
    }

    /// Disables the SDK's own retries as far as possible, because nested retries multiply.
    fn operations(&self) -> OperationOptions {
        let mut throttling = ThrottlingRetryOptions::default();
        throttling.max_retry_count = Some(0);
        let mut operations = OperationOptions::default();
        operations.max_failover_retry_count = Some(0);
        operations.max_session_retry_count = Some(1);
        operations.throttling_retry_options = Some(throttling);
        operations.availability_strategy = Some(AvailabilityStrategy::Disabled);
        operations.hedging_enabled = Some(false);
        operations.end_to_end_latency_policy =
            Some(EndToEndOperationLatencyPolicy::new(self.options.attempt_timeout));
        operations
    }
}

/// Guesses the layout from the container's name.
fn guess_layout(options: &CosmosOptions) -> Layout {
    if options.container == "session_data" { Layout::Lines } else { Layout::Blocks }
}
