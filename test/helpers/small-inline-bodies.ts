/** The limit of inline bodies that clusters of tests have. */
import { parse, stringify } from 'yaml'

/** Bodies of a few kilobytes are chunks, unless a test says otherwise: most tests look for their copies. `settings`: YAML, or none. */
export function withSmallInlineBodies(settings: string | null): string {
  const given = parse(settings ?? '') as { readonly limits?: object } | null
  return stringify({ ...given, limits: { inline_bytes: '2KiB', ...given?.limits } })
}
