/** The newest checkpoint of the transparency log. */

import { ApiError } from '../../shared/api/http.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Loaded } from '../../shared/use-load.js';
import { http } from '../session.js';
import { texts } from '../texts.js';
import { usePoll } from '../use-poll.js';

const EVERY_MS = 30_000;

/** `''` while there is none. */
const loadCheckpoint = (signal: AbortSignal): Promise<string> =>
  http.send('GET', 'audit/checkpoint', { signal }).then(
    (response) => response.text(),
    (error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return '';
      throw error;
    },
  );

export function TransparencyLog() {
  const checkpoint = usePoll(loadCheckpoint, EVERY_MS);
  return (
    <section class="card">
      <h2>{texts.overview.audit}</h2>
      <Loaded of={checkpoint}>
        {(text) => (text === '' ? <p class="quiet">{texts.overview.auditNone}</p> : <Checkpoint text={text} />)}
      </Loaded>
    </section>
  );
}

/** The first lines of a checkpoint are its origin, its size and its root. */
function Checkpoint({ text }: { text: string }) {
  const [origin, size = '0', root] = text.split('\n');
  return (
    <>
      <p>{texts.overview.auditSize(size)}</p>
      <p class="break">
        <span class="quiet">{texts.overview.auditOrigin}</span> {origin}
      </p>
      <p class="break">
        <span class="quiet">{texts.overview.auditRoot}</span> <code>{root}</code>
      </p>
      <p>
        <CopyButton text={text} />
      </p>
    </>
  );
}
