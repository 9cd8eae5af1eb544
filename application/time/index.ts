/** Clock skew between this machine and the event store. */
export { createStoreClock } from './store-clock.js';
