/** The logger of commands that print their result to standard output. */
import { createLogger } from '../../adapters/platform/observability/logger.js';
import type { Logger } from '../../application/ports/index.js';
import type { AnnalsValues } from '../settings.js';

/** Writes warnings and errors to standard error. */
export const createCommandLogger = (values: Pick<AnnalsValues, 'log.format'>): Logger =>
  createLogger({ level: 'warn', format: values['log.format'], to: process.stderr });
