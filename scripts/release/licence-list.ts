/**
 * The licences of everything that a node consists of, as a list for people.
 *
 * Owns: the form. Knows nothing of: which licences are allowed (scripts/supply-chain/licences.ts).
 */
import type { LockedProject } from '../supply-chain/lockfile.ts'

/** One line for each package: name, version, licence, and whether it is inside the bundle or installed beside it. */
export function licenceList({ name, version, license, packages }: LockedProject, texts: string): string {
  const inside = new Set([...texts.matchAll(/^(\S+) (\S+) \(/gm)].map(([, of, at]) => `${of}@${at}`))
  const rows = packages
    .filter(({ isDev }) => !isDev)
    .map((item) => {
      const where = inside.has(`${item.name}@${item.version}`) ? 'in the bundle' : 'installed with it'
      return `${item.name} ${item.version}  ${item.license ?? 'see its text'}  ${where}`
    })
  return [`${name} ${version}  ${license ?? ''}`, '', ...[...new Set(rows)].sort(), '', texts].join('\n')
}
