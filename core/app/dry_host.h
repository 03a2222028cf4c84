/* What scripts are loaded on where nothing is to run: informers wait for a catalogue that never comes, so
 * that nothing is asked of any server. What scripts print while they load goes to stderr: stdout has the
 * document that the command is asked for. Owner: the command, on the main thread; scripts are freed first. */
#pragma once
#include "script/script.h"
#include "script/turns.h"

struct dry_host {
    struct loop *loop;
    struct turns turns;
    struct script_host host; /* to be used, and completed, by whoever loads */
};

void dry_host_open(struct dry_host *dry);
void dry_host_close(struct dry_host *dry);
