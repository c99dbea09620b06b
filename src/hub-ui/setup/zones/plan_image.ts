import { useEffect, useState } from 'preact/hooks';
import { t } from '../../languages/language.ts';
import type { PlanImage } from './image_layer.tsx';

const SIDE_MAX_PIXELS = 3000;
/** A plan is sent with its zone, and with every change of it. */
const TEXT_MAX_CHARACTERS = 3_000_000;

/** A file as a plan: large images are made smaller. Rejects for what is no image. */
export async function readPlan(file: Blob): Promise<PlanImage> {
  const bitmap = await loadImage(URL.createObjectURL(file));
  const scale = Math.min(1, SIDE_MAX_PIXELS / Math.max(bitmap.naturalWidth, bitmap.naturalHeight));
  for (const smaller of [1, 0.7, 0.5, 0.35]) {
    const drawn = redraw(bitmap, scale * smaller);
    for (const url of [drawn.toDataURL('image/png'), drawn.toDataURL('image/webp', 0.85)]) {
      if (url.length <= TEXT_MAX_CHARACTERS) return { url, width: drawn.width, height: drawn.height };
    }
  }
  throw new Error(t('The image is too large to be sent with the zone'));
}

/** The size of a plan, once it is known. */
export function usePlanImage(url: string | undefined): PlanImage | undefined {
  const [image, setImage] = useState<PlanImage>();
  useEffect(() => {
    if (url === undefined) return;
    let isOver = false;
    loadImage(url).then(
      ({ naturalWidth: width, naturalHeight: height }) => {
        if (!isOver) setImage({ url, width, height });
      },
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [url]);
  return image?.url === url ? image : undefined;
}

function loadImage(url: string): Promise<HTMLImageElement> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error(t('The file is not an image that a browser can show')));
    image.src = url;
  });
}

function redraw(image: HTMLImageElement, scale: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(image.naturalWidth * scale));
  canvas.height = Math.max(1, Math.round(image.naturalHeight * scale));
  const context = canvas.getContext('2d');
  if (context !== null) context.imageSmoothingQuality = 'high';
  context?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}
