/**
 * Which build of the console a page is, and how the one that its node serves by now differs. Pure.
 *
 * Rules: a build is known by its version and by the name of its script, which changes with its bytes; what is no page of a console is no build.
 */
export interface Build {
  /** As in package.json, such as 0.3.0. */
  readonly version: string
  /** The file name of the script. */
  readonly script: string
}

/** `other`: of the same version, and not the same. */
export type Difference = 'newer' | 'older' | 'other'

const VERSION = /<meta name="holdfast-version" content="([\w.+-]{1,64})">/
const SCRIPT = /<script type="module" src="([\w.-]{1,128})"><\/script>/

/** `html`: the page as the node sends it. null: it is no console. */
export function buildOf(html: string): Build | null {
  const version = VERSION.exec(html)?.[1]
  const script = SCRIPT.exec(html)?.[1]
  return version === undefined || script === undefined ? null : { version, script }
}

/** How the served build differs from the own one; null: it does not. */
export function differenceOf(own: Build, served: Build): Difference | null {
  const order = orderOf(served.version, own.version)
  if (order !== 0) return order > 0 ? 'newer' : 'older'
  return own.script === served.script && own.version === served.version ? null : 'other'
}

/** By the numbers of a version alone: a suffix such as "-rc.1" orders nothing. */
function orderOf(one: string, other: string): number {
  const [ones, others] = [numbersOf(one), numbersOf(other)]
  for (let at = 0; at < Math.max(ones.length, others.length); at++) {
    const order = (ones[at] ?? 0) - (others[at] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

const numbersOf = (version: string): readonly number[] =>
  (/^[\d.]*/.exec(version)?.[0] ?? '').split('.').map(Number)
