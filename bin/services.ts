/** All services of the program. */
import { rooms } from './rooms.js';
import type { Service } from './service.js';

export const services: readonly Service[] = [rooms];
