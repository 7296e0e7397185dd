//! The way to a container: one worker that waits for answers, and one connection, made when it is
//! needed first.

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
use trommel_blocks::{Error, ErrorKind, Failed, Result};
use trommel_session::Watch;

use super::failure::{Failure, code, judge, too_long};
use super::fault::{CosmosFault, OptionFault};
use super::identity::identity;
use super::options::{CosmosOptions, Layout, Place};

/// How long an answer is waited for before it is looked whether to end.
const NAP: Duration = Duration::from_millis(20);

/// What the official crate may take longer: it ends a try by itself, and then says how many
/// requests that was.
const GRACE: Duration = Duration::from_secs(1);

/// A container that answers.
#[derive(Clone)]
pub(super) struct Open {
    pub(super) container: ContainerClient,
    pub(super) layout: Layout,
}

/// What a connection is made from, and the connection.
pub(super) struct Seed {
    pub(super) options: CosmosOptions,
    place: Place,
    sdk: CosmosRuntimeBuilder,
    client: OnceCell<CosmosClient>,
    open: OnceCell<Open>,
}

/// A try of a request.
pub(super) struct Attempt<'t> {
    /// Requests that were made before, to which those of this try are added.
    pub(super) tried: &'t mut usize,
    /// The time that is left for it.
    pub(super) left: Duration,
}

pub(super) struct Link {
    pub(super) seed: Arc<Seed>,
    runtime: Option<Runtime>,
    pub(super) name: String,
}

impl Link {
    /// Connects to nothing yet.
    pub(super) fn new(options: CosmosOptions, sdk: CosmosRuntimeBuilder) -> Result<Self> {
        let place = Place::of(&options)?;
        let name = format!("Cosmos container {}/{} at {}", options.database, options.container, place.host);
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("trommel-cosmos")
            .enable_all()
            .build()
            .map_err(ErrorKind::Thread)?;
        let seed = Seed { options, place, sdk, client: OnceCell::new(), open: OnceCell::new() };
        Ok(Self { seed: Arc::new(seed), runtime: Some(runtime), name })
    }

    /// Asks, and asks again where that can help.
    pub(super) fn ask<T, F, Fut>(&self, watch: &Watch<'_>, ask: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(Open) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = std::result::Result<T, Failure>> + Send,
    {
        let mut tried = 0;
        self.seed.options.retry.run(watch, |left| {
            let (seed, ask) = (Arc::clone(&self.seed), ask.clone());
            self.once(watch, Attempt { tried: &mut tried, left }, async move {
                let open = seed.open().await?;
                ask(open).await
            })
        })
    }

    /// One try, on the worker, after so many requests, within the time that is left. Nobody but the
    /// caller's thread waits for it, so that this may be any thread.
    pub(super) fn once<T: Send + 'static>(
        &self,
        watch: &Watch<'_>,
        attempt: Attempt<'_>,
        asked: impl Future<Output = std::result::Result<T, Failure>> + Send + 'static,
    ) -> std::result::Result<T, Failed> {
        let Attempt { tried, left } = attempt;
        let ended = || Error::from(CosmosFault::Stopped { place: self.name.clone() });
        let patience = left.min(self.seed.options.patience + GRACE);
        let (send, receive) = mpsc::sync_channel(1);
        let runtime = self.runtime.as_ref().ok_or_else(|| Failed::Finally(ended()))?;
        let task = runtime.spawn(async move {
            // Nobody listens any more when it was cancelled.
            let _ = send.send(tokio::time::timeout(patience, asked).await);
        });
        loop {
            match receive.recv_timeout(NAP) {
                Ok(Ok(answer)) => return answer.map_err(|fault| self.judged(fault, tried)),
                Ok(Err(_)) => return Err(too_long(&self.name, patience)),
                Err(RecvTimeoutError::Disconnected) => return Err(Failed::Finally(ended())),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = watch.check() {
                        task.abort();
                        return Err(Failed::Finally(error.into()));
                    }
                }
            }
        }
    }

    /// What the crate tried by itself counts: when that were as many as there may be, the try was
    /// the last one.
    fn judged(&self, fault: Failure, tried: &mut usize) -> Failed {
        *tried += match &fault {
            Failure::Service(error) => error.diagnostics().map_or(1, |all| all.request_count()),
            Failure::Own(_) => 1,
        };
        match judge(fault, &self.name) {
            Failed::ForNow(error, _) if *tried >= self.seed.options.retry.tries as usize => {
                Failed::Finally(error)
            }
            failed => failed,
        }
    }

    /// The layout, as far as it is known without asking.
    pub(super) fn layout(&self) -> Layout {
        let found = self.seed.open.get().map(|open| open.layout);
        found.or(self.seed.options.layout).unwrap_or_else(|| guessed(&self.seed.options))
    }

    /// Whether something listens there. A thread of its own, as nothing else ends the search for an
    /// address.
    pub(super) fn reach(&self, patience: Duration) -> Result<()> {
        let Place { host, port, .. } = self.seed.place.clone();
        let (send, receive) = mpsc::sync_channel(1);
        let knock = move || {
            let found = (host.as_str(), port).to_socket_addrs().into_iter().flatten();
            let reached =
                found.into_iter().any(|address| TcpStream::connect_timeout(&address, patience).is_ok());
            let _ = send.send(reached);
        };
        let started = thread::Builder::new().name("trommel-reach".to_owned()).spawn(knock);
        if started.is_ok() && receive.recv_timeout(patience) == Ok(true) {
            return Ok(());
        }
        Err(CosmosFault::Unreachable { place: self.name.clone(), waited: patience }.into())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Without waiting, which is not allowed on every thread.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Seed {
    pub(super) async fn client(&self) -> std::result::Result<CosmosClient, Failure> {
        let made = self.client.get_or_try_init(|| async {
            let endpoint: AccountEndpoint = self
                .place
                .endpoint
                .parse()
                .map_err(|_why| Error::from(CosmosFault::Option(OptionFault::Endpoint)))?;
            let account = match &self.place.key {
                Some(key) => AccountReference::with_authentication_key(endpoint, key.expose().to_owned()),
                None => AccountReference::with_credential(endpoint, identity(&self.options.credential)?),
            };
            // A runtime of our own: the one that all clients share lives on the worker that came
            // first. Over the newer protocol the crate tries each request that fails on the way
            // twice by itself.
            let pool = ConnectionPoolOptions::builder().with_is_http2_allowed(false).build()?;
            let sdk = self.sdk.clone().with_connection_pool(pool).build().await?;
            let client = CosmosClient::builder()
                .with_runtime(sdk)
                .with_default_operation_options(self.operations())
                // Blocks go over the line as they are, and an emulator understands nothing else.
                .with_binary_encoding_options(BinaryEncodingOptions::new().with_enabled(false))
                .build(account, RoutingStrategy::PreferredRegions(Vec::new()))
                .await?;
            Ok::<_, Failure>(client)
        });
        made.await.cloned()
    }

    pub(super) async fn open(&self) -> std::result::Result<Open, Failure> {
        let made = self.open.get_or_try_init(|| async {
            let database = self.client().await?.database_client(self.options.database.clone());
            let container = database.container_client(self.options.container.clone(), None).await?;
            let layout = match self.options.layout {
                Some(layout) => layout,
                None => self.found(&container).await?,
            };
            Ok::<_, Failure>(Open { container, layout })
        });
        made.await.cloned()
    }

    /// What the container says of itself; where it does not say it to us, what its name says.
    async fn found(&self, container: &ContainerClient) -> std::result::Result<Layout, Failure> {
        let properties = match container.read(None).await {
            Ok(answer) => answer.into_model()?,
            Err(error) if code(&error) == 403 => return Ok(guessed(&self.options)),
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

    /// How often and how long is ours to say, so that the tries of both do not multiply.
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
            Some(EndToEndOperationLatencyPolicy::new(self.options.patience));
        operations
    }
}

/// What its name says, where nothing else does.
fn guessed(options: &CosmosOptions) -> Layout {
    if options.container == "session_data" { Layout::Lines } else { Layout::Blocks }
}
