/**
 * Browser forms as bytes.
 */
export const BOUNDARY = '----form7MA4YWxk'

export interface SampleFile {
  readonly fileName?: string
  readonly bytes: string | Uint8Array
}

/** `late`: fields behind the file. */
export function formOf(
  fields: readonly (readonly [name: string, text: string])[],
  file: SampleFile | null,
  late: readonly (readonly [name: string, text: string])[] = [],
): Buffer {
  const parts: Buffer[] = []
  const add = (disposition: string, bytes: string | Uint8Array): void => {
    parts.push(
      Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
      Buffer.from(bytes),
      Buffer.from('\r\n'),
    )
  }
  for (const [name, text] of fields) add(`name="${name}"`, text)
  if (file !== null) {
    const named = file.fileName === undefined ? '' : `; filename="${file.fileName}"`
    add(`name="file"${named}`, file.bytes)
  }
  for (const [name, text] of late) add(`name="${name}"`, text)
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])
}
