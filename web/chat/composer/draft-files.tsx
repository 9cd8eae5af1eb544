/** Images and files of a draft, and those still on their way. */
import { File as FileIcon, ImageIcon, RotateCw, X } from 'lucide-preact';
import { IconButton } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { useImage } from '../files/message-files.js';
import { formatSize } from '../state/file-kinds.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import type { Upload } from '../workspace/uploads.js';

interface DraftFilesProps {
  readonly draftKey: string;
  readonly placeId: string;
}

export function DraftFiles({ draftKey, placeId }: DraftFilesProps) {
  const { drafts, uploads } = useWorkspace();
  const { images, attachments } = drafts.of(draftKey).value;
  const running = uploads.of(draftKey).value;
  if (images.length + attachments.length + running.length === 0) return null;
  return (
    <ul class="draft-files" aria-label={texts.attached}>
      {images.map((filename) => (
        <li key={filename}>
          <DraftImage placeId={placeId} filename={filename} />
          <IconButton
            small
            icon={X}
            label={texts.removeFile(texts.anImage)}
            onClick={() => drafts.change(draftKey, { images: images.filter((each) => each !== filename) })}
          />
        </li>
      ))}
      {attachments.map(({ filename, originalName, size }) => (
        <li key={filename}>
          <Icon of={FileIcon} />
          <span class="name">{originalName}</span>
          <span class="quiet">{formatSize(size)}</span>
          <IconButton
            small
            icon={X}
            label={texts.removeFile(originalName)}
            onClick={() =>
              drafts.change(draftKey, { attachments: attachments.filter((each) => each.filename !== filename) })
            }
          />
        </li>
      ))}
      {running.map((upload) => (
        <RunningUpload key={upload.id} upload={upload} draftKey={draftKey} placeId={placeId} />
      ))}
    </ul>
  );
}

function DraftImage({ placeId, filename }: { placeId: string; filename: string }) {
  const { url } = useImage(placeId, filename, 'thumb');
  return url ? <img src={url} alt={texts.anImage} /> : <Icon of={ImageIcon} />;
}

function RunningUpload({ upload, draftKey, placeId }: DraftFilesProps & { readonly upload: Upload }) {
  const { uploads } = useWorkspace();
  const { id, name, size, isImage, progress, error } = upload;
  return (
    <li class={error === undefined ? undefined : 'failed'}>
      <Icon of={isImage ? ImageIcon : FileIcon} />
      <span class="name">{name}</span>
      {error === undefined ? (
        <>
          <span class="quiet">{formatSize(size)}</span>
          <progress value={progress} aria-label={texts.uploading(name)} />
        </>
      ) : (
        <>
          <span class="error" role="alert">
            {error}
          </span>
          <IconButton
            small
            icon={RotateCw}
            label={texts.retryUpload(name)}
            onClick={() => uploads.retry(draftKey, placeId, upload)}
          />
        </>
      )}
      <IconButton small icon={X} label={texts.cancelUpload(name)} onClick={() => uploads.cancel(draftKey, id)} />
    </li>
  );
}
