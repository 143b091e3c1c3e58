/**
 * Bytes of an object for its reader: saved as a file, or shown.
 *
 * Rules: what is handed out has the digests that the service keeps; a browser that can write to a file gets a large object piece by piece, and no
 * other gets more than fits into memory; what is shown can run nothing: pictures as images, text as text.
 */
import type { Holdfast } from '../../../client/src/index.ts'
import type { ObjectName } from './object-data.ts'

/** Held as a blob, which browsers keep on the disk when it is large. */
export const BLOB_BYTES_MAX = 2 * 1024 ** 3
/** From here on a file is written as the bytes come, where the browser can. */
const STREAMED_BYTES_MIN = 64 * 1024 ** 2
export const SHOWN_BYTES_MAX = 8 * 1024 ** 2
const TEXT_CHARS_MAX = 200_000

/** Not SVG: as a document it could hold a script, and as an image there is no need. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp']
const TEXTS = /^(?:text\/|application\/(?:json|xml|yaml|javascript|x-sh|toml)\b)|\+(?:json|xml)\b/

export type Shown =
  | { readonly kind: 'picture'; readonly url: string }
  | { readonly kind: 'text'; readonly text: string; readonly isWhole: boolean }

export interface Wanted extends ObjectName {
  readonly versionId?: string
  readonly size: number
}

interface FileTarget {
  createWritable(): Promise<WritableStream<Uint8Array>>
}
type Picker = (options: { readonly suggestedName: string }) => Promise<FileTarget>

const nameOf = (key: string): string => key.split('/').findLast((part) => part !== '') ?? 'object'
const versioned = ({ versionId }: Wanted) => (versionId === undefined ? {} : { versionId })

/** False: the object is too large for this browser; a link or a client has no such bound. */
export async function save(
  api: Holdfast,
  wanted: Wanted,
  onProgress: (share: number) => void,
): Promise<boolean> {
  const { bucket, key, size } = wanted
  const { showSaveFilePicker: pick } = globalThis as { readonly showSaveFilePicker?: Picker }
  const isStreamed = pick !== undefined && size >= STREAMED_BYTES_MIN
  if (!isStreamed && size > BLOB_BYTES_MAX) return false
  // The browser asks where to before the first byte, while the click counts.
  const target = isStreamed ? await pick({ suggestedName: nameOf(key) }) : null
  const download = await api.download(bucket, key, {
    ...versioned(wanted),
    onProgress: ({ receivedBytes }) => onProgress(size === 0 ? 1 : receivedBytes / size),
  })
  // A file with wrong digests is not closed, so the browser throws it away.
  if (target === null) saveBlob(await blobOf(download.body), nameOf(key))
  else await download.body.pipeTo(await target.createWritable())
  return true
}

/** Whatever its type was, this one is never opened as a page of this origin. */
async function blobOf(body: ReadableStream<Uint8Array>): Promise<Blob> {
  return new Response(body, { headers: { 'content-type': 'application/octet-stream' } }).blob()
}

export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

export function canShow(contentType: string | null, size: number): boolean {
  const [type = ''] = (contentType ?? '').toLowerCase().split(';')
  return size <= SHOWN_BYTES_MAX && (PICTURES.includes(type.trim()) || TEXTS.test(type.trim()))
}

/** The caller revokes the address of a picture. */
export async function show(api: Holdfast, wanted: Wanted, contentType: string): Promise<Shown> {
  const download = await api.download(wanted.bucket, wanted.key, versioned(wanted))
  const type = contentType.toLowerCase().split(';')[0]?.trim() ?? ''
  if (PICTURES.includes(type)) {
    const bytes = await download.bytes()
    return { kind: 'picture', url: URL.createObjectURL(new Blob([bytes], { type })) }
  }
  const text = await download.text()
  return { kind: 'text', text: text.slice(0, TEXT_CHARS_MAX), isWhole: text.length <= TEXT_CHARS_MAX }
}
