/**
 * Requests one URL, an argument or HOLDFAST_PROBE_URL, and exits 0 when the answer is 2xx: the health check of an image without curl.
 *
 * Rule: it stops before the time limit of the checker (5 s), and prints the fault to standard error.
 */
const TIMEOUT_MS = 4000
const [url = process.env.HOLDFAST_PROBE_URL] = process.argv.slice(2)

if (url === undefined) {
  process.stderr.write('usage: node probe.mjs URL, or HOLDFAST_PROBE_URL\n')
  process.exitCode = 2
} else {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!response.ok) {
      process.stderr.write(`${url} answered ${response.status}: ${await response.text()}\n`)
      process.exitCode = 1
    }
  } catch (error) {
    process.stderr.write(`${url} does not answer: ${error.cause?.message ?? error.message}\n`)
    process.exitCode = 1
  }
}
