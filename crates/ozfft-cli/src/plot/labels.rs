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

/// The same for names that a line leads to from their point, to a name at `x`: the line crosses nothing that is taken either. Takes both places.
pub fn led_height(
    taken: &mut Vec<Extent>,
    point: (i32, i32),
    x: i32,
    half_width: i32,
    highest: i32,
) -> i32 {
    let name = |height: i32| (x - half_width, x + half_width, height - 7, height + 7);
    let line = |height: i32| {
        let (left, right) = (x.min(point.0) - 2, x.max(point.0) + 2);
        // From the edge of the point to that of the name.
        match height < point.1 {
            true => (left, right, height + 7, point.1 - 7),
            false => (left, right, point.1 + 7, height - 7),
        }
    };
    let is_free = |height: &i32| {
        let (name, line) = (name(*height), line(*height));
        let free = |extent: &Extent| taken.iter().all(|other| apart(extent, other));
        name.2 > highest && free(&name) && (line.2 >= line.3 || free(&line))
    };
    let farther = (1..30).flat_map(|step| [point.1 - 15 * step, point.1 + 15 * step]);
    match farther.into_iter().find(is_free) {
        Some(height) => {
            taken.extend([name(height), line(height)]);
            height
        }
        None => free_height(taken, (x, point.1), half_width, highest),
    }
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
        let points = [(100, 200), (110, 200), (120, 200)];
        let mut taken: Vec<Extent> = points.map(|(x, y)| (x - 6, x + 6, y - 6, y + 6)).to_vec();
        let heights = points.map(|point| led_height(&mut taken, point, point.0, 30, 0));
        // The third would have to pass one of the other names above or below its point.
        assert_eq!(heights[..2], [185, 215]);
        assert_eq!(taken.len(), 8);
    }
}
