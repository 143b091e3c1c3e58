/**
 * A value that belongs to one object of somebody else, such as a request of Node, and ends with it.
 *
 * Rule: it lies on the object itself, under a symbol of its own. An entry of a WeakMap for each request takes the collector longer than
 * a small answer takes in all.
 */
export class Attached<O extends object, V> {
  readonly #name = Symbol('attached')

  get(to: O): V | undefined {
    const value: unknown = Reflect.get(to, this.#name)
    return value as V | undefined
  }

  set(to: O, value: V | undefined): void {
    Reflect.set(to, this.#name, value)
  }
}
