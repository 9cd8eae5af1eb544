/** Requests the report that is shown, with as many rows of each list as the service gives. */
import { api } from '../api.js';
import type { Report } from '../contract.js';

const MAX_ROWS = 1000;

export const fullReport = (site: string, { range: { start, end } }: Report, signal?: AbortSignal): Promise<Report> =>
  api.report(site, { start, end }, { limit: MAX_ROWS, ...(signal && { signal }) });
