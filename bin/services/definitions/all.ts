/** The services without what serves requests: that takes as long to load as the rest of a command. */
import type { ServiceDefinition } from '../../node/service.js';
import { analytics } from './analytics.js';
import { chat } from './chat.js';
import { logs } from './logs.js';
import { meeting } from './meeting.js';
import { rooms } from './rooms.js';

export const definitions: readonly ServiceDefinition[] = [chat, meeting, analytics, logs, rooms];
