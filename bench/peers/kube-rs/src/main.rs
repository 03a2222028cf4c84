//! kube-rs as a subject of kubelua's benchmark: `kube-rs --server URL [FLAG ...]`.
//! One process is one informer of all pods; what it prints and when is in `subject`.

mod latency;
mod memory;
mod object;
mod options;
mod select;
mod subject;

use k8s_openapi::api::core::v1::Pod;
use kube::api::{ApiResource, DynamicObject};
use kube::core::PartialObjectMeta;
use kube::{Api, Client, Config};
use options::{Mode, Options};
use std::error::Error;
use subject::Subject;
use tokio::signal::unix::{SignalKind, signal};

/// Ends the process with one line that says why.
fn give_up(code: i32, why: &str) -> ! {
    eprintln!("kube-rs: {why}");
    std::process::exit(code)
}

async fn watch(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        terminate.recv().await;
        // At once: giving back every object of a store would only keep the harness waiting.
        std::process::exit(0)
    });
    let client = Client::try_from(Config::new(options.server.parse()?))?;
    let config = options.list.watcher_config();
    let select = options.select;
    match options.mode {
        Mode::Typed => Subject::new((), select).run(Api::<Pod>::all(client), config).await,
        Mode::Metadata => {
            Subject::new((), select).run(Api::<PartialObjectMeta<Pod>>::all(client), config).await
        }
        Mode::Dynamic => {
            let pods = ApiResource::erase::<Pod>(&());
            let api = Api::<DynamicObject>::all_with(client, &pods);
            Subject::new(pods, select).run(api, config).await
        }
    }
    Err("the watcher's stream has ended".into())
}

fn main() {
    let options = Options::parse(std::env::args().skip(1)).unwrap_or_else(|why| give_up(2, &why));
    let runtime = options.threads.runtime().unwrap_or_else(|error| give_up(1, &error.to_string()));
    if let Err(error) = runtime.block_on(watch(&options)) {
        give_up(1, &error.to_string());
    }
}
