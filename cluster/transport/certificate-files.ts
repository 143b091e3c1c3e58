/**
 * The certificate files of one listener: read at the start, and again whenever they change.
 *
 * Owns: which contents are in use, and for how long they are good. Knows nothing of: sockets, who uses them.
 * Rules: certificate and key are taken over together or not at all, so a copy that is half done changes nothing; what
 * cannot be used is told once and the pair before it stays. Contents are compared, because times of files lie.
 */
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Clock, Timer } from '../base/clock.ts'
import { type Logger, StartError } from '../base/types.ts'

export interface CertificateFilesOptions {
  /** `ca` null: nobody is asked for a certificate. */
  readonly files: { readonly ca: string | null; readonly cert: string; readonly key: string }
  /** Begins the codes of its errors. */
  readonly code: 'peer_tls' | 'listener_tls'
  /** As in "TLS of the data listener". */
  readonly use: string
  /** Throws StartError for a certificate that is good and still not the one to use. */
  readonly accept?: (certificate: X509Certificate) => void
}

export interface TlsMaterial {
  readonly ca?: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

export interface CertificateWatch {
  readonly clock: Pick<Clock, 'after' | 'wallTime'>
  readonly logger: Logger
  /** New contents are in use from here on. */
  readonly onChange: () => void
}

interface Contents extends TlsMaterial {
  readonly digest: string
}

interface Validity {
  /** As OpenSSL writes it. */
  readonly until: string
  /** ms since 1970 */
  readonly certificateEndsAt: number
  /** Of several, while one takes the place of another, that which ends first. */
  readonly authorityEndsAt: number | null
}

/** A new certificate is in use so long after its last file was written. ms */
const LOOK_EVERY_MS = 10_000

export class CertificateFiles {
  readonly #options: CertificateFilesOptions
  #contents: Contents
  #validity: Validity
  /** Of what was looked at last, whether it could be used or not. */
  #seen: string
  #isStale = false
  #timer: Timer | null = null
  #stopped = false

  /** Throws StartError. */
  constructor(options: CertificateFilesOptions) {
    this.#options = options
    this.#contents = this.#digested(
      this.#paths().map((path) => this.#reading(path, () => readFileSync(path))),
    )
    this.#seen = this.#contents.digest
    this.#validity = this.#checked(this.#contents)
  }

  /** What is in use. A new object after each change. */
  get material(): TlsMaterial {
    return this.#contents
  }

  get validity(): Validity {
    return this.#validity
  }

  /** The files hold something else than what is in use, and it cannot be used. */
  get isStale(): boolean {
    return this.#isStale
  }

  watch(watch: CertificateWatch): void {
    if (this.#stopped) return
    this.#timer = watch.clock.after(LOOK_EVERY_MS, () => {
      void this.#look(watch).then(() => this.watch(watch))
    })
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  /** True when other contents are in use now. Throws StartError once for contents that cannot be used. */
  async reload(nowMs: number): Promise<boolean> {
    const pieces = await Promise.all(
      this.#paths().map((path) => readFile(path).catch((cause: unknown) => this.#unreadable(path, cause))),
    )
    const failure = pieces.find((piece) => piece instanceof StartError)
    const contents = this.#digested(
      pieces.map((piece) => (piece instanceof StartError ? Buffer.of() : piece)),
    )
    if (contents.digest === this.#seen) return false
    this.#seen = contents.digest
    this.#isStale = contents.digest !== this.#contents.digest
    if (!this.#isStale) return false
    if (failure !== undefined) throw failure
    const validity = this.#checked(contents)
    if (validity.certificateEndsAt <= nowMs) throw this.#ended(validity)
    this.#contents = contents
    this.#validity = validity
    this.#isStale = false
    return true
  }

  async #look({ clock, logger, onChange }: CertificateWatch): Promise<void> {
    const { use } = this.#options
    try {
      if (!(await this.reload(clock.wallTime())) || this.#stopped) return
      onChange()
      logger.info({ use, until: this.#validity.until }, 'new certificate in use')
    } catch (err) {
      logger.error({ use, err }, 'new certificate cannot be used, the one before it stays')
    }
  }

  #paths(): readonly string[] {
    const { ca, cert, key } = this.#options.files
    return ca === null ? [cert, key] : [cert, key, ca]
  }

  #digested([cert = Buffer.of(), key = Buffer.of(), ca]: readonly Buffer[]): Contents {
    const hash = createHash('sha256')
    for (const piece of [cert, key, ca ?? Buffer.of()]) hash.update(`${piece.length} `).update(piece)
    return { cert, key, ...(ca === undefined ? {} : { ca }), digest: hash.digest('hex') }
  }

  #checked({ cert, key, ca }: TlsMaterial): Validity {
    const { files, accept } = this.#options
    const certificate = this.#parsed(files.cert, 'PEM certificate', () => new X509Certificate(cert))
    const privateKey = this.#parsed(files.key, 'PEM private key', () => createPrivateKey(key))
    if (!certificate.checkPrivateKey(privateKey))
      throw this.#invalid(`the key in '${files.key}' belongs to another certificate than '${files.cert}'`)
    const authorities =
      ca === undefined ? [] : this.#parsed(files.ca ?? '', 'PEM certificate', () => allOf(ca))
    this.#parsed(files.cert, 'certificate and key that TLS takes', () => createSecureContext({ cert, key }))
    accept?.(certificate)
    return {
      until: certificate.validTo,
      certificateEndsAt: endOf(certificate),
      authorityEndsAt: ca === undefined ? null : Math.min(...authorities.map(endOf)),
    }
  }

  #parsed<T>(path: string, what: string, parse: () => T): T {
    try {
      return parse()
    } catch (cause) {
      throw this.#invalid(`'${path}' holds no ${what}`, cause)
    }
  }

  #reading<T>(path: string, read: () => T): T {
    try {
      return read()
    } catch (cause) {
      throw this.#unreadable(path, cause)
    }
  }

  #unreadable(path: string, cause: unknown): StartError {
    const { code, use } = this.#options
    const hint = 'Check the path and that the user of this process may read the file.'
    return new StartError(`${code}_unreadable`, `Cannot read '${path}' for ${use}`, { cause, hint })
  }

  #invalid(why: string, cause?: unknown): StartError {
    const { code, use } = this.#options
    const hint =
      'Give a certificate and its own key as PEM files; `holdfast certs show FILE` says what is in one.'
    return new StartError(`${code}_invalid`, `Cannot set up ${use}: ${why}`, { cause, hint })
  }

  #ended({ until }: Validity): StartError {
    const { code, use, files } = this.#options
    const message = `Cannot use '${files.cert}' for ${use}: it ended at ${until}`
    const hint = 'Put a certificate there that is good now, and look at the clock of this machine.'
    return new StartError(`${code}_ended`, message, { hint })
  }
}

const endOf = (certificate: X509Certificate): number => certificate.validToDate.getTime()

function allOf(pem: Buffer): readonly X509Certificate[] {
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
  return (blocks ?? [pem]).map((block) => new X509Certificate(block))
}
