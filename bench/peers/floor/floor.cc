// The floor of a first list: what the bytes of a watch-list of pods cost when they are only received
// (`receive`), when simdjson's first stage sees each line as well (`stage1`), and when its DOM parser reads
// each (`dom`). A peer of `kubelua bench` that can do no more than that (docs/performance.md has the
// protocol).
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace {

constexpr size_t room = 256 << 10;
constexpr std::string_view end_mark = "k8s.io/initial-events-end";

[[noreturn]] void fail(const char *what)
{
    std::fprintf(stderr, "floor: %s\n", what);
    std::exit(1);
}

int connect_to(std::string server)
{
    constexpr std::string_view scheme = "http://";
    const size_t colon = server.rfind(':');
    if (server.rfind(scheme, 0) != 0 || colon < scheme.size()) fail("--server: not http://HOST:PORT");
    const auto host = server.substr(scheme.size(), colon - scheme.size()), port = server.substr(colon + 1);
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) fail("--server: no such host");
    const int fd = socket(found->ai_family, found->ai_socktype, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0) fail("no connection");
    freeaddrinfo(found);
    return fd;
}

void ask(int fd)
{
    constexpr std::string_view request =
        "GET /api/v1/pods?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
        "&resourceVersionMatch=NotOlderThan HTTP/1.1\r\nHost: floor\r\nAccept: application/json\r\n\r\n";
    if (send(fd, request.data(), request.size(), 0) < 0) fail("nothing was sent");
}

// What is done with each line, without its end; true for the last one.
struct reader {
    std::string mode;
    simdjson::dom::parser dom;
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stages;
    size_t lines = 0;

    bool take(const char *line, size_t len)
    {
        lines++;
        if (mode == "dom") {
            if (dom.parse(line, len, false).error()) fail("a line that is no JSON");
        } else if (mode == "stage1") {
            const auto *bytes = reinterpret_cast<const uint8_t *>(line);
            if (stages->capacity() < len && stages->set_capacity(2 * len)) fail("no memory");
            if (stages->stage1(bytes, len, simdjson::stage1_mode::regular)) fail("a line that is no JSON");
        }
        return len < 1024 && std::string_view(line, len).find(end_mark) != std::string_view::npos;
    }
};

// The chunks of a body joined into lines. Nothing is copied but the beginning of a line that goes on in the
// next block.
struct body {
    reader &to;
    std::string rest;      // of a line; has the parser's padding behind it when it is read
    size_t chunk = 0;      // bytes that are left of it
    std::string head;      // of a chunk, or of the answer, as far as it came
    bool answered = false; // the answer's own head is over
    bool done = false;

    void lines(const char *data, size_t len)
    {
        while (const void *found = std::memchr(data, '\n', len)) {
            const size_t n = static_cast<size_t>(static_cast<const char *>(found) - data);
            line(data, n);
            data += n + 1;
            len -= n + 1;
        }
        rest.append(data, len);
    }

    // The blocks have room behind them, and so do lines in them.
    void line(const char *data, size_t len)
    {
        if (!rest.empty()) {
            rest.append(data, len);
            rest.reserve(rest.size() + simdjson::SIMDJSON_PADDING);
            done = to.take(rest.data(), rest.size());
            rest.clear();
        } else {
            done = to.take(data, len);
        }
    }

    void take(const char *data, size_t len)
    {
        while (len > 0 && !done) {
            if (chunk > 0) {
                const size_t n = std::min(chunk, len);
                lines(data, n);
                data += n, len -= n, chunk -= n;
                continue;
            }
            head.push_back(*data++), len--;
            const std::string_view end = answered ? "\r\n" : "\r\n\r\n";
            if (head.size() <= 2 ||
                head.compare(head.size() - std::min(head.size(), end.size()), end.size(), end) != 0)
                continue;
            if (answered)
                chunk = std::strtoul(head.c_str(), nullptr, 16);
            else if (head.find(" 200 ") == head.npos || head.find("chunked") == head.npos)
                fail("not the answer that was expected");
            answered = true;
            head.clear();
        }
    }
};

} // namespace

int main(int argc, char **argv)
{
    reader reader;
    std::string server;
    std::signal(SIGTERM, [](int) { _exit(0); });
    for (int i = 1; i + 1 < argc; i += 2)
        (std::strcmp(argv[i], "--mode") == 0 ? reader.mode : server) = argv[i + 1];
    if (server.empty() || reader.mode.empty()) fail("--mode receive|stage1|dom and --server URL are needed");
    (void)simdjson::get_active_implementation()->create_dom_parser_implementation(1 << 20, 64, reader.stages);
    body body{reader, {}, 0, {}, false, false};
    std::string block(room + simdjson::SIMDJSON_PADDING, '\0');
    const int fd = connect_to(server);
    ask(fd);
    while (!body.done) {
        const ssize_t n = recv(fd, block.data(), room, 0);
        if (n <= 0) fail("the stream ended early");
        body.take(block.data(), static_cast<size_t>(n));
    }
    std::printf("{\"event\":\"synced\",\"objects\":%zu,\"measurements\":[\"floor\"],"
                "\"version\":\"simdjson %d.%d.%d\"}\n",
                reader.lines - 1, simdjson::SIMDJSON_VERSION_MAJOR, simdjson::SIMDJSON_VERSION_MINOR,
                simdjson::SIMDJSON_VERSION_REVISION);
    std::fflush(stdout);
    pause(); // until SIGTERM
}
