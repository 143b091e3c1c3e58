/**
 * Works on several items at once, and on never more than that.
 *
 * Rules: the next item is asked for when there is room for it; after a failure none is asked for any more, those under way are
 * waited for, and the first failure is thrown.
 */
export async function forEachBounded<T>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  let failure: { readonly cause: unknown } | null = null
  const failed = (cause: unknown): void => {
    failure ??= { cause }
  }
  try {
    for await (const item of items) {
      if (failure !== null) break
      const task: Promise<void> = work(item)
        .catch(failed)
        .finally(() => running.delete(task))
      running.add(task)
      if (running.size >= limit) await Promise.race(running)
      if (failure !== null) break
    }
  } catch (cause) {
    failed(cause)
  }
  await Promise.all(running)
  if (failure !== null) throw (failure as { readonly cause: unknown }).cause
}
