/** JSON Schemas of files and images. */
import { object } from '../../../domain/shared/index.js';
import { text } from './schemas.js';

const base64 = (description: string) =>
  ({
    type: 'string',
    contentEncoding: 'base64',
    description: `${description}; may be a data URL`,
  }) as const;
/** Bounds the input before a name is shortened to 255 characters. */
const filename = { type: 'string', maxLength: 4096 } as const;

export const fileBody = object(
  {
    filename: { ...filename, description: 'Its extension determines the content type' },
    file: base64('At most 25 MiB'),
  },
  { contentType: { type: 'string', maxLength: 255, description: 'Ignored' } },
);
export const imageBody = object(
  {
    filename: { ...filename, description: 'Ends in jpg, jpeg, png, webp or svg' },
    image: base64('At most 10 MiB'),
  },
  { thumbnail: base64('An image, at most 10 MiB') },
);
export const imageQuery = object({}, { size: { type: 'string', description: '`thumb` for the thumbnail' } });

export const uploadedFile = object({
  success: { type: 'boolean' },
  attachment: object({ filename: text, originalName: text, contentType: text, size: { type: 'integer' } }),
});
export const uploadedImage = object({ success: { type: 'boolean' }, filename: text });
