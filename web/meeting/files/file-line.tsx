/** A file in the chat: from whom or to whom, and how far its transfer is. */
import { File as FileIcon } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { files } from '../meeting/meeting.js';
import { nameOf } from '../meeting/state.js';
import { transfers } from '../messages/timeline.js';
import { texts } from '../texts.js';
import type { Transfer } from './files.js';
import { inBytes } from './size.js';

const { files: words } = texts;

const STATUS = {
  offered: words.offered,
  'under way': '',
  done: words.delivered,
  declined: words.declined,
  failed: words.failed,
} as const;

/** Images that browsers show without running anything in them. */
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

export function FileLine({ batch }: { batch: string }) {
  const all = transfers.value.get(batch) ?? [];
  const [first] = all;
  if (!first) return null;
  const { name, size, isOurs, participantId } = first;
  const who = all.length > 1 ? texts.everyone : nameOf(participantId);
  const title = isOurs ? words.to(name, who) : words.from(name, who);
  return (
    <li class="file" data-status={statusOf(all)}>
      <Icon of={FileIcon} />
      <div>
        <span class="title">{title}</span> <span class="quiet">{inBytes(size)}</span>
        <div class="line">
          <Progress all={all} title={title} />
          {isOurs ? <OwnActions all={all} /> : <TheirActions transfer={first} />}
        </div>
      </div>
    </li>
  );
}

/** What most concerns the sender: a transfer that goes on, then a delivered one. */
function statusOf(all: readonly Transfer[]): Transfer['status'] {
  const order = ['under way', 'offered', 'done', 'declined', 'failed'] as const;
  return order.find((status) => all.some((each) => each.status === status)) ?? 'failed';
}

function Progress({ all, title }: { all: readonly Transfer[]; title: string }) {
  const status = statusOf(all);
  const active = all.filter((each) => each.status === 'under way');
  if (active.length > 0) {
    const progress = active.reduce((sum, each) => sum + each.progress, 0) / active.length;
    return <progress value={progress} aria-label={title} />;
  }
  const { isOurs, file } = all[0]!;
  if (!isOurs && (status === 'offered' || file)) return null;
  const done = all.filter((each) => each.status === 'done').length;
  const isPartly = all.length > 1 && done > 0;
  return <span class="quiet">{isPartly ? words.deliveredTo(done, all.length) : STATUS[status]}</span>;
}

function OwnActions({ all }: { all: readonly Transfer[] }) {
  const active = all.filter(({ status }) => status === 'offered' || status === 'under way');
  if (active.length === 0) return null;
  return (
    <Button small variant="ghost" onClick={() => active.map(({ id }) => files.cancel(id))}>
      {words.cancel}
    </Button>
  );
}

function TheirActions({ transfer: { id, status, file, name } }: { transfer: Transfer }) {
  const url = useObjectUrl(file);
  if (status === 'offered')
    return (
      <>
        <Button small variant="main" onClick={() => files.answer(id, true)}>
          {words.accept}
        </Button>
        <Button small onClick={() => files.answer(id, false)}>
          {words.decline}
        </Button>
      </>
    );
  if (!url) return null;
  return (
    <>
      {file && IMAGES.has(file.type) && <img src={url} alt={name} />}
      <a class="button small" href={url} download={name}>
        {words.save}
      </a>
    </>
  );
}

/** Address of a received file, revoked with the component. */
function useObjectUrl(file: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!file) return;
    const created = URL.createObjectURL(file);
    setUrl(created);
    return () => URL.revokeObjectURL(created);
  }, [file]);
  return url;
}
