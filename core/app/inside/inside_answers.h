/* Answers of a test to requests that its cluster cannot serve; see struct spec_answer. Owner: the cluster. */
#pragma once
#include "app/inside/inside.h"

struct spec_answers {
    struct spec_answer *items; /* with texts of their own */
    size_t count;
};

void spec_answers_add(struct spec_answers *answers, const struct spec_answer *answer);
/* Fills the response if there is an answer to the request; else returns false. */
bool spec_answers_meet(const struct spec_answers *answers, const struct sim_inside_request *request,
                       struct sim_inside_response *response);
void spec_answers_clear(struct spec_answers *answers);
