/** Small versions of images, made in the browser before an upload. */

const [MAX_WIDTH, MAX_HEIGHT] = [960, 640];
/** Smaller files need no thumbnail. */
const SMALL_BYTES = 120 * 1024;

/** A data URL; undefined where the image itself will do, or where the browser cannot read it. */
export async function thumbnailOf(file: File): Promise<string | undefined> {
  if (file.size < SMALL_BYTES || file.type === 'image/svg+xml') return undefined;
  try {
    const image = await createImageBitmap(file);
    const scale = Math.min(1, MAX_WIDTH / image.width, MAX_HEIGHT / image.height);
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(image.width * scale);
    canvas.height = Math.round(image.height * scale);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    image.close();
    const url = canvas.toDataURL('image/webp', 0.82);
    return url.startsWith('data:image/webp') ? url : canvas.toDataURL('image/png');
  } catch {
    return undefined;
  }
}
