/** Clock skew between this machine and the event store. */
export {
  ASK_EVERY_MS,
  createClockJumpGuard,
  type Doubt,
  type LastingClock,
  type TimeMark,
} from './clock-jump-guard.js';
export { createStoreClock } from './store-clock.js';
