/** Images and files of a message. */
import { Download, File as FileIcon, ImageOff } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Spinner } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { toast } from '../../shared/components/toasts.js';
import type { Attachment, Message } from '../contract.js';
import { formatSize } from '../state/file-kinds.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { downloadFile } from './download.js';
import type { ImageSize } from './image-cache.js';

/** Object URL of an image; an error when it could not be loaded. */
export function useImage(placeId: string, filename: string, size: ImageSize) {
  const { images, uploads } = useWorkspace();
  const [state, setState] = useState<{ url?: string; error?: unknown }>({});
  useEffect(() => {
    let isCurrent = true;
    const preview = uploads.previewOf(filename);
    if (preview !== undefined) {
      setState({ url: preview });
      return;
    }
    setState({});
    images.url(placeId, filename, size).then(
      (url) => isCurrent && setState({ url }),
      (error: unknown) => isCurrent && setState({ error }),
    );
    return () => {
      isCurrent = false;
    };
  }, [placeId, filename, size]);
  return state;
}

type Files = Pick<Message, 'images' | 'attachments'>;

export function MessageFiles({ placeId, images, attachments }: { placeId: string } & Files) {
  const { overlay } = useWorkspace();
  return (
    <>
      {images.length > 0 && (
        <div class="images">
          {images.map((filename, index) => (
            <ImageButton
              key={filename}
              placeId={placeId}
              filename={filename}
              label={texts.openImage(index + 1, images.length)}
              onClick={() => {
                overlay.value = { kind: 'image', placeId, images, index };
              }}
            />
          ))}
        </div>
      )}
      {attachments.length > 0 && (
        <div class="attachments">
          {attachments.map((attachment) => (
            <FileButton key={attachment.filename} attachment={attachment} />
          ))}
        </div>
      )}
    </>
  );
}

interface ImageButtonProps {
  readonly placeId: string;
  readonly filename: string;
  readonly label: string;
  readonly onClick: () => void;
}

function ImageButton({ placeId, filename, label, onClick }: ImageButtonProps) {
  const { url, error } = useImage(placeId, filename, 'thumb');
  return (
    <button type="button" class="image" aria-label={label} onClick={onClick}>
      {url ? <img src={url} alt="" /> : error ? <Icon of={ImageOff} /> : <Spinner />}
    </button>
  );
}

function FileButton({ attachment }: { attachment: Attachment }) {
  const { http } = useWorkspace();
  const [isBusy, setBusy] = useState(false);
  const { filename, originalName, size } = attachment;
  async function download() {
    setBusy(true);
    try {
      await downloadFile(http, `files/${encodeURIComponent(filename)}`, originalName);
    } catch (error) {
      toast({ tone: 'bad', text: messageOf(error) });
    } finally {
      setBusy(false);
    }
  }
  return (
    <button type="button" class="attachment" disabled={isBusy} onClick={download} title={texts.download(originalName)}>
      <Icon of={FileIcon} />
      <span class="name">{originalName}</span>
      <span class="quiet">{formatSize(size)}</span>
      {isBusy ? <Spinner /> : <Icon of={Download} />}
    </button>
  );
}
