/**
 * In which order the parts of a program end: the last one that began ends first.
 */
export class Endings {
  readonly #handlers: (() => unknown)[] = []

  teardown(handler: () => unknown): void {
    this.#handlers.unshift(handler)
  }

  async run(): Promise<void> {
    for (const handler of this.#handlers) await handler()
  }
}
