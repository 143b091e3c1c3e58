/** The limit of inline bodies that clusters of tests have. */
import { parse, stringify } from 'yaml'
import { testMetadataKey } from './sealed-metadata.ts'

/** Bodies of a few kilobytes are chunks, unless a test says otherwise: most tests look for their copies. `settings`: YAML, or none. */
export function withSmallInlineBodies(settings: string | null): string {
  const given = parse(settings ?? '') as { readonly limits?: object; readonly node?: object } | null
  const sealed = testMetadataKey() === null ? {} : { node: { ...given?.node, seal_metadata: true } }
  return stringify({ ...given, ...sealed, limits: { inline_bytes: '2KiB', ...given?.limits } })
}
