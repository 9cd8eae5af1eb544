/** Groups of levels, for colours and for the histogram. */

export type Tone = 'error' | 'warning' | 'info' | 'quiet';

export const ERROR_LEVELS: readonly string[] = [
  ...['ERROR', 'FATAL', 'CRITICAL', 'ALERT', 'EMERGENCY'],
  ...['CRIT', 'ERR', 'EMERG', 'PANIC', 'SEVERE'],
];
export const WARNING_LEVELS: readonly string[] = ['WARN', 'WARNING'];
const QUIET_LEVELS = ['TRACE', 'DEBUG', 'VERBOSE', 'SILLY', 'FINE', 'FINER', 'FINEST'];

export function toneOf(level: string): Tone {
  if (ERROR_LEVELS.includes(level)) return 'error';
  if (WARNING_LEVELS.includes(level)) return 'warning';
  return QUIET_LEVELS.includes(level) ? 'quiet' : 'info';
}
