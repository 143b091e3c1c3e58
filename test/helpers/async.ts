/**
 * Two small things that tests of asynchronous code keep needing and the compiler's library does not name yet.
 */
export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export interface Deferred {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

/** A promise that the test settles: something to wait for instead of sleeping. */
export function deferred(): Deferred {
  let settle: () => void = () => {}
  const promise = new Promise<void>((resolve) => {
    settle = resolve
  })
  return { promise, resolve: () => settle() }
}
