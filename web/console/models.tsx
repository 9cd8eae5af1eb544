/** Read models with their position and lag, and what rebuilds or checks them. */
import { useState } from 'preact/hooks';
import { messageOf } from '../shared/api/http.js';
import { Button } from '../shared/components/button.js';
import { ConfirmDialog } from '../shared/components/dialog.js';
import { TextField } from '../shared/components/form.js';
import { Banner, Empty } from '../shared/components/states.js';
import { toast } from '../shared/components/toasts.js';
import { Loaded } from '../shared/use-load.js';
import type { ReadModel, ReindexKind, ReindexRun } from './contract.js';
import { formatCount, shortName } from './format.js';
import { http } from './session.js';
import { texts } from './texts.js';
import { usePolled } from './use-poll.js';

const EVERY_MS = 2000;

export function Models() {
  const models = usePolled<{ projections: readonly ReadModel[] }>('projections', EVERY_MS);
  const runs = usePolled<{ runs: readonly ReindexRun[] }>('reindex', EVERY_MS);
  const [filter, setFilter] = useState('');
  const [confirming, confirm] = useState<string>();

  async function start(name: string, kind: ReindexKind) {
    await http.send('POST', `projections/${encodeURIComponent(name)}/${kind}`);
    await runs.reload();
  }
  const check = (name: string) => start(name, 'check').catch((error) => toast({ text: messageOf(error), tone: 'bad' }));

  const runOf = (name: string) => runs.value?.runs.find(({ projection }) => projection === name);
  const isBusy = runs.value?.runs.some(({ state }) => state === 'running') ?? true;
  return (
    <div class="view">
      {models.error !== undefined && models.value && <Banner>{texts.stale}</Banner>}
      <div class="narrow">
        {' '}
        <TextField
          label={texts.models.filter}
          type="search"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      </div>
      <Loaded of={models}>
        {({ projections }) => {
          const shown = projections.filter(({ name }) => name.toLowerCase().includes(filter.trim().toLowerCase()));
          if (shown.length === 0) return <Empty title={texts.models.none} />;
          return (
            <div class="card table">
              <table class="models">
                <Head />
                <tbody>
                  {shown.map((model) => (
                    <Row
                      key={model.name}
                      model={model}
                      run={runOf(model.name)}
                      isBusy={isBusy}
                      onRebuild={() => confirm(model.name)}
                      onCheck={() => check(model.name)}
                    />
                  ))}
                </tbody>
              </table>
            </div>
          );
        }}
      </Loaded>
      {confirming !== undefined && (
        <ConfirmDialog
          title={texts.models.confirmTitle(confirming)}
          text={texts.models.confirmText}
          confirmLabel={texts.models.confirm}
          onConfirm={() => start(confirming, 'rebuild')}
          onClose={() => confirm(undefined)}
        />
      )}
    </div>
  );
}

const Head = () => (
  <thead>
    <tr>
      <th scope="col">{texts.models.name}</th>
      <th scope="col">{texts.models.status}</th>
      <th scope="col" class="number">
        {texts.models.lag}
      </th>
      <th scope="col" class="number">
        {texts.models.position}
      </th>
      <th scope="col">{texts.models.owner}</th>
      <th scope="col">
        <span class="unseen">{texts.models.actions}</span>
      </th>
    </tr>
  </thead>
);

interface RowProps {
  readonly model: ReadModel;
  readonly run: ReindexRun | undefined;
  readonly isBusy: boolean;
  readonly onRebuild: () => void;
  readonly onCheck: () => void;
}

function Row({ model, run, isBusy, onRebuild, onCheck }: RowProps) {
  const { name, version, collection, status, owner, position, lag } = model;
  const tone = status === 'live' ? 'good' : status === 'failing' ? 'bad' : 'warn';
  return (
    <tr>
      <th scope="row" title={collection}>
        {name} <span class="quiet">v{version}</span>
        {run && <RunLine run={run} />}
      </th>
      <td>
        <span class={tone}>{status}</span>
      </td>
      <td data-label={texts.models.lag} class={`number ${lag === undefined || lag === '0' ? 'quiet' : 'warn'}`}>
        {lag === undefined ? texts.overview.unknown : formatCount(lag)}
      </td>
      <td data-label={texts.models.position} class="number">
        {position === undefined ? texts.overview.unknown : formatCount(position)}
      </td>
      <td>{owner === undefined ? texts.overview.unknown : <code title={owner}>{shortName(owner)}</code>}</td>
      <td>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset has no place in a cell */}
        <span class="actions" role="group" aria-label={texts.models.actionsOf(name)}>
          <Button small disabled={isBusy} onClick={onCheck}>
            {texts.models.check}
          </Button>
          <Button small disabled={isBusy} onClick={onRebuild}>
            {texts.models.rebuild}
          </Button>
        </span>
      </td>
    </tr>
  );
}

function RunLine({ run }: { run: ReindexRun }) {
  const { projection, state, differences = 0, position, until } = run;
  const tone = state === 'failed' || differences > 0 ? 'bad' : 'quiet';
  return (
    <span class={`run ${tone}`}>
      {state === 'running' && until !== undefined && (
        <progress
          aria-label={texts.models.progress(projection)}
          value={Number(position)}
          max={Math.max(1, Number(until))}
        />
      )}
      {texts.models.run(run)}
    </span>
  );
}
