/** Clock skew between this machine and the event store. */
export {
  ASK_EVERY_MS,
  type ClockJump,
  createClockJumpGuard,
  type JumpGuardedClock,
  type TimestampRegister,
} from './clock-jump-guard.js';
export { createStoreClock } from './store-clock.js';
