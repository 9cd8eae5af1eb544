/** A picture. It has no sound: that is played apart from the stage, which shows and hides pictures. */
import { useEffect, useRef } from 'preact/hooks';

interface VideoProps {
  readonly stream: MediaStream | undefined;
  readonly mirrored?: boolean;
  /** Shows all of it instead of filling the tile. */
  readonly whole?: boolean;
  readonly label?: string;
}

export function Video({ stream, mirrored, whole, label }: VideoProps) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const video = element.current;
    if (!video) return;
    video.muted = true;
    video.srcObject = stream ?? null;
    if (stream) void video.play().catch(() => {});
  }, [stream]);
  const classes = [mirrored && 'mirrored', whole && 'whole'].filter(Boolean).join(' ');
  return <video ref={element} class={classes} autoplay playsInline muted aria-label={label} aria-hidden={!label} />;
}
