/** All commands of the program. */
import type { CommandSpec } from './command.js';
import { config } from './config.js';
import { engines } from './engines.js';
import { keys } from './keys.js';
import { reindex } from './reindex.js';
import { replay } from './replay.js';
import { scavenge } from './scavenge.js';
import { serve } from './serve.js';

export const commands: readonly CommandSpec[] = [serve, engines, config, reindex, replay, scavenge, keys];
