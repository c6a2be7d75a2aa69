/*
 * The end of what all questions of the process share.
 */
#ifndef RUNNER_MODEL_EXIT_H
#define RUNNER_MODEL_EXIT_H

/*
 * End recording, the commands for keys, the settings file and HTTP. At the end of the process,
 * when no other thread is left.
 */
void model_exit(void);

#endif
