/** The export of all data as one file, with progress. */
import { Download } from 'lucide-preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { FormError } from '../../shared/components/form.js';
import { language } from '../../shared/language.js';
import { http } from '../api.js';
import { adminTexts } from '../texts/admin.js';
import { settingsTexts } from '../texts/settings.js';
import { chooseTarget, save } from './download.js';

const texts = adminTexts.export;

type State =
  | { readonly step: 'idle' | 'running' | 'done'; readonly bytes: number }
  | { readonly step: 'failed'; readonly error: unknown };

const sizeFormat = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });

/** `12.3 MB` */
const sizeOf = (bytes: number) =>
  bytes < 1e6 ? `${sizeFormat.format(bytes / 1e3)} kB` : `${sizeFormat.format(bytes / 1e6)} MB`;

const nameOf = (date: Date) => `chat-export-${date.toISOString().slice(0, 10)}.json`;

export function ExportSection() {
  const [state, setState] = useState<State>({ step: 'idle', bytes: 0 });
  const running = useRef<AbortController>();
  useEffect(() => () => running.current?.abort(), []);

  async function start() {
    const name = nameOf(new Date());
    const target = await chooseTarget(name);
    if (!target) return;
    const controller = new AbortController();
    running.current = controller;
    setState({ step: 'running', bytes: 0 });
    let received = 0;
    try {
      const response = await http.send('GET', 'admin/export', { signal: controller.signal });
      await save(response, name, target, (bytes) => {
        received = bytes;
        setState({ step: 'running', bytes });
      });
      setState({ step: 'done', bytes: received });
    } catch (error) {
      await target.file?.abort().catch(() => {});
      if (controller.signal.aborted) setState({ step: 'idle', bytes: 0 });
      else setState({ step: 'failed', error: error instanceof ApiError ? error : new ApiError(texts.broken) });
    }
  }

  return (
    <div class="settings-part">
      <p>{texts.hint}</p>
      <p class="quiet">{texts.sensitive}</p>
      {state.step === 'failed' && <FormError error={state.error} />}
      {state.step === 'running' ? (
        <>
          <progress aria-label={texts.title} />
          <p role="status">{texts.running(sizeOf(state.bytes))}</p>
          <Button onClick={() => running.current?.abort()}>{settingsTexts.cancel}</Button>
        </>
      ) : (
        <>
          {state.step === 'done' && <p role="status">{texts.done(sizeOf(state.bytes))}</p>}
          <Button icon={Download} onClick={start}>
            {state.step === 'idle' ? texts.start : texts.again}
          </Button>
        </>
      )}
    </div>
  );
}
