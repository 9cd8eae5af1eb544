/** The last warnings and errors of the process, kept in memory. */
import { expect } from 'chai';
import { createLogger, type LoggerOptions } from '../../../adapters/platform/observability/logger.js';
import { createRecentErrors } from '../../../adapters/platform/observability/recent-errors.js';

describe('recent errors', () => {
  function record(options: Partial<LoggerOptions> = {}) {
    const recentErrors = createRecentErrors();
    const to = { write() {} };
    return { recentErrors, logger: createLogger({ level: 'info', format: 'json', to, recentErrors, ...options }) };
  }

  it('are the last 100 warnings and errors, the newest first', () => {
    const { recentErrors, logger } = record({ format: 'pretty' });
    for (let index = 0; index < 150; index++) {
      logger.info({}, 'fine');
      logger.warn({}, `warning ${index}`);
    }
    logger.error({ err: new Error('no route') }, 'failed');
    const [newest, ...rest] = recentErrors.list();
    expect(newest).to.include({ level: 'error', message: 'failed', error: 'no route' });
    expect(rest.map(({ message }) => message)).to.deep.equal(
      Array.from({ length: 99 }, (_, index) => `warning ${149 - index}`),
    );
  });

  it('have credentials masked, and texts cut', () => {
    const { recentErrors, logger } = record();
    const err = new Error('mongodb://ann:s3cret@db/ is down');
    logger.error({ err, password: 's3cret' }, 'x'.repeat(5000));
    expect(recentErrors.list()[0]!.message).to.equal('x'.repeat(1000));
    expect(recentErrors.list()[0]!.error).to.match(/^mongodb:.* is down$/);
    expect(JSON.stringify(recentErrors.list())).not.to.include('s3cret');
  });
});
