/** All services of the program. */
import type { Service } from '../node/service.js';
import { analytics } from './analytics.js';
import { chat } from './chat.js';
import { logs } from './logs.js';
import { meeting } from './meeting.js';
import { rooms } from './rooms.js';

export const services: readonly Service[] = [chat, meeting, analytics, logs, rooms];
