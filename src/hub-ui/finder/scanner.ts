/** Reads QR codes and bar codes with the camera, by the BarcodeDetector of the browser. */

interface DetectedCode {
  readonly rawValue: string;
}

interface Detector {
  detect(source: HTMLVideoElement): Promise<readonly DetectedCode[]>;
}

type DetectorClass = new () => Detector;

const EVERY_MS = 200;

function detectorClass(): DetectorClass | undefined {
  return (globalThis as { readonly BarcodeDetector?: DetectorClass }).BarcodeDetector;
}

/** Whether the browser can read codes. Browsers permit the camera over HTTPS, and on the machine of the hub. */
export function canScan(): boolean {
  return detectorClass() !== undefined && globalThis.isSecureContext && 'mediaDevices' in navigator;
}

/**
 * Shows the rear camera in a video until a code is found, and resolves with its text; with undefined if `signal` is aborted
 * first. Stops the camera in any case. Rejects if the camera is not available.
 */
export async function scan(video: HTMLVideoElement, signal: AbortSignal): Promise<string | undefined> {
  const Class = detectorClass();
  if (Class === undefined) return undefined;
  const detector = new Class();
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
  try {
    video.srcObject = stream;
    await video.play();
    while (!signal.aborted) {
      const [found] = await detector.detect(video);
      if (found !== undefined && found.rawValue.trim() !== '') return found.rawValue.trim();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    return undefined;
  } finally {
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  }
}

/** Returns the id of a tag in a scanned text: the last part of a URL, or the text itself. */
export function tagIn(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return text.trim();
  const named = url.searchParams.get('id') ?? url.pathname.split('/').findLast((part) => part !== '');
  return decodeURIComponent(named ?? text).trim();
}
