//! The command line.

use kube::runtime::watcher;

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

impl Options {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options =
            Options { server: String::new(), mode: Mode::Typed, list: List::Stream, select: false };
        while let Some(name) = args.next() {
            let mut value = || args.next().ok_or(format!("{name} wants a value"));
            match name.as_str() {
                "--server" => options.server = value()?,
                "--mode" => options.mode = mode(&value()?)?,
                "--list" => options.list = list(&value()?)?,
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
