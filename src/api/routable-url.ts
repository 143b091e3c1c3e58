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
  const wild = plane.routes
    .filter((route) => wildcardDepth(route.path) !== null)
    .toSorted((a, b) => segmentsOf(b) - segmentsOf(a))
    .map((route) => ({
      methods: methodsOf(plane, route) as readonly string[],
      before: beforeKey(plane, route),
    }))
  return (method, target) => {
    const url = originForm(target)
    const found = wild.filter(({ before }) => before.test(url))
    const meant = found.find(({ methods }) => methods.includes(method)) ?? found[0]
    return meant === undefined ? url : url.replace(meant.before, '$1-')
  }
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
