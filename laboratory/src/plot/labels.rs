//! Names beside points, where nothing covers anything.

/// Left, right, top and bottom, in pixels.
pub type Extent = (i32, i32, i32, i32);

/// Whether two share no pixel but those of an edge.
pub fn apart(a: &Extent, b: &Extent) -> bool {
    a.1 <= b.0 || b.1 <= a.0 || a.3 <= b.2 || b.3 <= a.2
}

/// Where a name goes whose half width is given: above its point, or below, or as far away as it must so that it covers nothing that is taken, and
/// not above `highest`. Takes the place.
pub fn free_height(
    taken: &mut Vec<Extent>,
    (x, y): (i32, i32),
    half_width: i32,
    highest: i32,
) -> i32 {
    let place = |height: i32| (x - half_width, x + half_width, height - 7, height + 7);
    let is_free = |height: &i32| {
        let extent = place(*height);
        extent.2 > highest && taken.iter().all(|other| apart(&extent, other))
    };
    let farther = (1..30).flat_map(|step| [y - 15 * step, y + 15 * step]);
    let height = farther.into_iter().find(is_free).unwrap_or(y - 15);
    taken.push(place(height));
    height
}

/// Names and the lines that lead to them from their points.
#[derive(Debug, Default)]
pub struct Names {
    taken: Vec<Extent>,
    lines: Vec<[(i32, i32); 2]>,
}

/// Whether a line touches an extent: it is followed in steps of less than a pixel of its longer side.
fn touches([from, to]: [(i32, i32); 2], extent: &Extent) -> bool {
    let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1);
    (0..=steps).any(|step| {
        let x = from.0 + (to.0 - from.0) * step / steps;
        let y = from.1 + (to.1 - from.1) * step / steps;
        extent.0 <= x && x < extent.1 && extent.2 <= y && y < extent.3
    })
}

impl Names {
    /// Names keep off these.
    pub fn keeping_off(taken: Vec<Extent>) -> Names {
        Names {
            taken,
            lines: Vec::new(),
        }
    }

    /// The nearest place for the name of a point, between left and right and not above `highest`, where it covers nothing, and where no line crosses a
    /// name. Where there is none, lines may cross.
    pub fn place(
        &mut self,
        point: (i32, i32),
        half_width: i32,
        (left, right): (i32, i32),
        highest: i32,
    ) -> (i32, i32) {
        let mut places: Vec<(i32, i32)> = Vec::new();
        for row in (1..=14).flat_map(|step| [-15 * step, 15 * step]) {
            for shift in -6..=6 {
                let x = point.0 + shift * half_width / 2;
                places.push((
                    x.clamp(left + half_width, right - half_width),
                    point.1 + row,
                ));
            }
        }
        places.sort_by_key(|(x, y)| (y - point.1).abs() + (x - point.0).abs() / 2);
        let extent = |(x, y): (i32, i32)| (x - half_width, x + half_width, y - 7, y + 7);
        let covers_nothing = |place: &(i32, i32)| {
            let extent = extent(*place);
            extent.2 > highest && self.taken.iter().all(|other| apart(&extent, other))
        };
        let own = (point.0 - 6, point.0 + 6, point.1 - 6, point.1 + 6);
        let crosses_nothing = |place: &(i32, i32)| {
            let line = line(point, *place);
            let others = self.taken.iter().filter(|other| **other != own);
            let mut others = others.filter(|other| !is_within(point, other));
            let crossed = self
                .lines
                .iter()
                .any(|&line| touches(line, &extent(*place)));
            !crossed && !others.any(|other| touches(line, other))
        };
        let free: Vec<(i32, i32)> = places.into_iter().filter(covers_nothing).collect();
        let best = free.iter().copied().find(crosses_nothing);
        let place = best.or(free.first().copied());
        let place = place.unwrap_or((point.0, point.1 - 15));
        let (extent, line) = (extent(place), line(point, place));
        self.taken.push(extent);
        self.lines.push(line);
        place
    }
}

fn is_within((x, y): (i32, i32), extent: &Extent) -> bool {
    extent.0 <= x && x < extent.1 && extent.2 <= y && y < extent.3
}

/// From a point to the edge of its name.
pub fn line(point: (i32, i32), (x, y): (i32, i32)) -> [(i32, i32); 2] {
    let edge = if y < point.1 { y + 7 } else { y - 8 };
    [point, (x, edge)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_points_in_one_place_are_stacked() {
        let mut taken = vec![(94, 106, 194, 206)];
        let heights: Vec<i32> = (0..6)
            .map(|_| free_height(&mut taken, (100, 200), 30, 150))
            .collect();
        assert_eq!(heights, [185, 215, 170, 230, 245, 260]);
        for (number, one) in taken.iter().enumerate() {
            assert!(taken[..number].iter().all(|other| apart(one, other)));
        }
    }

    #[test]
    fn lines_to_names_cross_no_name() {
        let points = [(100, 200), (120, 200), (140, 200), (160, 200), (180, 200)];
        let dots = points.map(|(x, y)| (x - 6, x + 6, y - 6, y + 6));
        let mut names = Names::keeping_off(dots.to_vec());
        for point in points {
            let (x, y) = names.place(point, 30, (0, 400), 20);
            assert!((30..=370).contains(&x) && y > 27, "{x}, {y}");
        }
        let (placed, lines) = (&names.taken[points.len()..], &names.lines);
        for (number, one) in placed.iter().enumerate() {
            assert!(placed[..number].iter().all(|other| apart(one, other)));
            let crossing = lines.iter().filter(|line| touches(**line, one)).count();
            assert_eq!(crossing, 0, "{one:?}");
        }
        // The nearest place is right above.
        assert_eq!(placed[0], (70, 130, 178, 192));
    }
}
