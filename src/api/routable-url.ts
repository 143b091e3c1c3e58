/**
 * What the router gets to see of a request target: its origin form, with a stand-in where an object key begins.
 *
 * The router would refuse some keys, and cut others at "#"; the handler takes the key from the original target.
 * Rule: where a path can be read in two ways, the route that says more about it is meant; a parameter with a form counts
 * only where it has that form, as it is spelled. So a key such as "x/complete/y" is a key. [decisions 16]
 */
import { methodsOf, type Plane, wildcardDepth } from './plane.ts'
import { originForm } from './request-target.ts'
import type { RouteDefinition } from './route.ts'

const BEFORE_VERB = '[^:/]+'
const REST = /\{\w+\.\.\.\}$/

export function routableUrl(plane: Plane): (method: string, target: string) => string {
  const groups = wildGroups(plane)
  return (method, target) => {
    const url = originForm(target)
    let first: RegExp | null = null
    for (const { before, methods } of groups) {
      if (!before.test(url)) continue
      if (methods.has(method)) return url.replace(before, '$1-')
      first ??= before
    }
    return first === null ? url : url.replace(first, '$1-')
  }
}

interface WildGroup {
  readonly before: RegExp
  readonly methods: Set<string>
}

/** Routes whose paths begin alike up to their key are looked at together: each request is compared with all groups. */
function wildGroups(plane: Plane): readonly WildGroup[] {
  const groups = new Map<string, WildGroup>()
  const wild = plane.routes.filter((route) => wildcardDepth(route.path) !== null)
  for (const route of wild.toSorted((a, b) => segmentsOf(b) - segmentsOf(a))) {
    const before = beforeKey(plane, route)
    const group = groups.get(before.source) ?? { before, methods: new Set<string>() }
    for (const method of methodsOf(plane, route)) group.methods.add(method)
    groups.set(before.source, group)
  }
  return [...groups.values()]
}

/** How the router spells the path of a route. To it a single colon begins a parameter. */
export function routerPath(path: string, { forms = {} }: RouteDefinition): string {
  return path
    .replaceAll(':', '::')
    .replace(REST, '*')
    .replace(/\{(\w+)\}(::)?/g, (_, name: string, verb = '') => {
      // Without a form the router would take the verb for a part of the name.
      const form = forms[name]?.source ?? (verb === '' ? undefined : BEFORE_VERB)
      return `:${name}${form === undefined ? '' : `(${form})`}${verb}`
    })
}

function segmentsOf({ path }: RouteDefinition): number {
  return path.split('/').length
}

function beforeKey(plane: Plane, { path, forms = {} }: RouteDefinition): RegExp {
  const before = path.replace(REST, '').replace(/\{(\w+)\}/g, (_, name: string) => {
    const form = forms[name]
    return form === undefined ? '[^/?#]*' : form.source.replace(/^\^/, '').replace(/\$$/, '')
  })
  return new RegExp(`^(${plane.mount}${before})[^?]*`)
}
