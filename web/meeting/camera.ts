/** Video sources: the camera, or a generated picture for machines without one. */

export interface Picture {
  readonly video: MediaStreamTrack;
  /** Undefined for a generated picture. */
  readonly audio: MediaStreamTrack | undefined;
  stop(): void;
}

const SIZE = { width: 480, height: 270 };
const PER_SECOND = 15;

/** Rejects without a camera or permission. */
export async function cameraPicture(): Promise<Picture> {
  // Browsers offer the camera only on https pages and on localhost.
  if (!navigator.mediaDevices) throw new Error('no camera here');
  const stream = await navigator.mediaDevices.getUserMedia({ video: SIZE, audio: true });
  return {
    video: stream.getVideoTracks()[0]!,
    audio: stream.getAudioTracks()[0],
    stop() {
      for (const track of stream.getTracks()) track.stop();
    },
  };
}

/** Draws an animated picture with the initials of the name. */
export function drawnPicture(name: string): Picture {
  const canvas = document.createElement('canvas');
  Object.assign(canvas, SIZE);
  const hue = [...name].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 360, 0);
  const context = canvas.getContext('2d')!;
  const startedAt = performance.now();
  const paint = () => draw(context, name, hue, (performance.now() - startedAt) / 1000);
  paint();
  const timer = setInterval(paint, 1000 / PER_SECOND);
  const video = canvas.captureStream(PER_SECOND).getVideoTracks()[0]!;
  return {
    video,
    audio: undefined,
    stop() {
      clearInterval(timer);
      video.stop();
    },
  };
}

function draw(context: CanvasRenderingContext2D, name: string, hue: number, seconds: number) {
  const { width, height } = SIZE;
  const ground = context.createLinearGradient(0, 0, width, height);
  ground.addColorStop(0, `hsl(${hue} 55% 32%)`);
  ground.addColorStop(1, `hsl(${(hue + 50) % 360} 60% 18%)`);
  context.fillStyle = ground;
  context.fillRect(0, 0, width, height);
  for (let index = 0; index < 5; index++) {
    const angle = seconds * (0.4 + index * 0.13) + index * 1.3;
    context.fillStyle = `hsl(${(hue + index * 18) % 360} 70% 65% / 0.22)`;
    context.beginPath();
    const [x, y] = [0.5 + 0.42 * Math.cos(angle), 0.5 + 0.34 * Math.sin(angle * 1.3)];
    context.arc(x * width, y * height, 26 + 9 * index, 0, 2 * Math.PI);
    context.fill();
  }
  context.fillStyle = '#fff';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = '600 92px system-ui, sans-serif';
  context.fillText(initials(name), width / 2, height / 2);
  context.textAlign = 'right';
  context.font = '16px ui-monospace, monospace';
  context.fillText(new Date().toLocaleTimeString(), width - 14, 22);
}

export const initials = (name: string): string =>
  name
    .trim()
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? '')
    .join('');
