/* The controlling terminal; see terminal.h. */
#include "app/cmd/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

bool terminal_is_open(void)
{
    /* A descriptor of the terminal would not do: it may be a pipe or a file, and stays open. */
    int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

bool terminal_ends_process(void)
{
    struct sigaction hangup;
    return sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN && terminal_is_open();
}
