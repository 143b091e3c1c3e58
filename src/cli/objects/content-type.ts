/**
 * The media type of a file, by the extension of its name.
 */
import mime from 'mime'

/** Registered types that the library does not have yet. */
const MORE_TYPES: ReadonlyMap<string, string> = new Map([
  ['jsonl', 'application/jsonl'],
  ['ndjson', 'application/x-ndjson'],
  ['parquet', 'application/vnd.apache.parquet'],
  ['zst', 'application/zstd'],
])

/** Text is sent as UTF-8. */
export function contentTypeOf(name: string): string {
  const end = /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase()
  const type = end === undefined ? null : (MORE_TYPES.get(end) ?? mime.getType(end))
  if (type === null) return 'application/octet-stream'
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}
