/**
 * The QR code of a link, black on white in every theme, for the camera of another device; or the sentence that the link is too long for one.
 */
import { qrCode } from '../judge/qr-code.ts'
import { TEXT } from '../words/strings.ts'

/** CSS pixels of a module, so that its edges are on whole pixels where there is room. */
const MODULE = 4

export function QrImage({ link }: { readonly link: string }) {
  const code = qrCode(link)
  if (code === null) return <p class="soft">{TEXT.objects.noQrCode}</p>
  const { size, path } = code
  return (
    <svg
      class="qr"
      role="img"
      aria-label={TEXT.objects.qrCode}
      viewBox={`0 0 ${size} ${size}`}
      width={size * MODULE}
      height={size * MODULE}
    >
      <path d={path} />
    </svg>
  )
}
