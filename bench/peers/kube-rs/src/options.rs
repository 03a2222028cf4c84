//! The command line.

use kube::runtime::watcher;
use std::io;
use tokio::runtime::{Builder, Runtime};

#[derive(Clone, Copy)]
pub enum Mode {
    Typed,
    Dynamic,
    Metadata,
}

/// How the first list is made: kube-rs's default, pages of 500, or by a stream (watch-list).
#[derive(Clone, Copy)]
pub enum List {
    Pages,
    Stream,
}

/// The runtime's threads: one, or tokio's default, one worker a core and the main thread.
#[derive(Clone, Copy)]
pub enum Threads {
    One,
    Many,
}

impl Threads {
    pub fn runtime(self) -> io::Result<Runtime> {
        match self {
            Threads::One => Builder::new_current_thread(),
            Threads::Many => Builder::new_multi_thread(),
        }
        .enable_all()
        .build()
    }
}

impl List {
    pub fn watcher_config(self) -> watcher::Config {
        match self {
            List::Pages => watcher::Config::default(),
            List::Stream => watcher::Config::default().streaming_lists(),
        }
    }
}

pub struct Options {
    pub server: String,
    pub mode: Mode,
    pub list: List,
    pub threads: Threads,
    pub select: bool,
}

fn mode(text: &str) -> Result<Mode, String> {
    match text {
        "typed" => Ok(Mode::Typed),
        "dynamic" => Ok(Mode::Dynamic),
        "metadata" => Ok(Mode::Metadata),
        _ => Err(format!("--mode is typed, dynamic or metadata, not \"{text}\"")),
    }
}

fn list(text: &str) -> Result<List, String> {
    match text {
        "pages" => Ok(List::Pages),
        "stream" => Ok(List::Stream),
        _ => Err(format!("--list is pages or stream, not \"{text}\"")),
    }
}

fn threads(text: &str) -> Result<Threads, String> {
    match text {
        "one" => Ok(Threads::One),
        "many" => Ok(Threads::Many),
        _ => Err(format!("--threads is one or many, not \"{text}\"")),
    }
}

impl Options {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            server: String::new(),
            mode: Mode::Typed,
            list: List::Stream,
            threads: Threads::One,
            select: false,
        };
        while let Some(name) = args.next() {
            let mut value = || args.next().ok_or(format!("{name} wants a value"));
            match name.as_str() {
                "--server" => options.server = value()?,
                "--mode" => options.mode = mode(&value()?)?,
                "--list" => options.list = list(&value()?)?,
                "--threads" => options.threads = threads(&value()?)?,
                "--select" => options.select = true,
                _ => return Err(format!("there is no option \"{name}\"")),
            }
        }
        if options.server.is_empty() {
            return Err("--server URL is missing".into());
        }
        Ok(options)
    }
}
