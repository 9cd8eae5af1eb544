/** All services of the program. */
import { logs } from './logs-service.js';
import { rooms } from './rooms.js';
import type { Service } from './service.js';

export const services: readonly Service[] = [logs, rooms];
